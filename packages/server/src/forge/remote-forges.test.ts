import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FarEnd, plainSettings, startFarEnd } from "../../test/support/forges/far-end.ts";
import { everyVendor, vendors } from "../../test/support/forges/vendors.ts";
import type { Fetch } from "../lib/network.ts";
import { forgeConformance } from "./conformance.ts";
import { openRemoteForge } from "./registry.ts";

const { signal } = new AbortController();

describe.each(everyVendor)("$label", (vendor) => {
  let far: FarEnd;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
  });
  afterAll(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });

  forgeConformance(vendor.label, async () => {
    const pull = (number: number) => far.state.pulls.find((candidate) => candidate.number === number);
    return {
      forge: far.open(),
      base: "main",
      makeBranch: async (name) => void far.makeBranch(name),
      close: async (number) => void Object.assign(pull(number) ?? {}, { state: "closed" }),
      merge: async (number) => void Object.assign(pull(number) ?? {}, { state: "merged" }),
      async say(number, remark) {
        const id = far.state.comments.length + 1;
        far.state.comments.push({ id, pull: number, at: new Date(id * 1000).toISOString(), ...remark });
      },
    };
  });

  it("finds a pull request whose branch was merged and deleted, and behind many others", async () => {
    const forge = far.open();
    far.makeBranch("emend/gone");
    const draft = { head: "emend/gone", base: "main", title: "T", body: "", draft: false, checks: [] };
    await forge.createPullRequest(draft, signal);
    const mine = far.state.pulls.at(-1);
    Object.assign(mine ?? {}, { state: "merged" });
    far.state.repository.git("update-ref", "-d", "refs/heads/emend/gone");
    for (let number = 0; number < 120; number += 1) {
      far.state.pulls.push({
        ...(mine as (typeof far.state.pulls)[number]),
        number: far.state.pulls.length + 1,
        head: `other/${number}`,
      });
    }
    expect(await forge.findPullRequests("emend/gone", signal)).toMatchObject([
      { number: mine?.number, state: "merged" },
    ]);
  });

  it("sets labels and reviewers, however often it is asked to", async () => {
    const forge = far.open({ labels: ["docs"], reviewers: ["ada"] });
    far.makeBranch("emend/details");
    const draft = { head: "emend/details", base: "main", title: "T", body: "", draft: false, checks: [] };
    const created = await forge.createPullRequest(draft, signal);
    if (created.kind !== "created") throw new Error(created.kind);
    await forge.ensureDetails?.(created.pullRequest.number, signal);
    await forge.ensureDetails?.(created.pullRequest.number, signal);
    expect(far.pullsOf("emend/details")).toMatchObject([{ labels: ["docs"], reviewers: ["ada"] }]);
  });
});

it("asks GitLab to squash and to remove the branch where the project says so", async () => {
  const vendor = vendors.find(({ name }) => name === "gitlab");
  if (!vendor) throw new Error("no GitLab");
  const far = await startFarEnd(vendor);
  far.makeBranch("emend/squashed");
  const draft = { head: "emend/squashed", base: "main", title: "T", body: "", draft: true, checks: [] };
  await far.open({ squash: true, removeSourceBranch: false }).createPullRequest(draft, signal);
  expect(far.state.pulls).toMatchObject([
    { title: "Draft: T", options: { squash: true, remove_source_branch: false } },
  ]);
  expect(far.violations).toEqual([]);
  await far.close();
});

describe("of what a hostile forge answers", () => {
  const branch = { ref: "b", label: "b", repo_id: 1 };
  const common = { state: "open", title: "T", body: "", merged: false, merged_at: null, head: branch, base: branch };
  const gitlab = {
    description: "",
    source_branch: "b",
    target_branch: "b",
    source_project_id: 1,
    target_project_id: 1,
  };
  /** As every vendor writes it at once. */
  function opened(number: number, url: string, text = "") {
    const texts = { body: text, description: text };
    const body = JSON.stringify({ ...common, ...gitlab, ...texts, number, iid: number, html_url: url, web_url: url });
    const fetch: Fetch = async () => ({
      status: 200,
      headers: new Headers(),
      body: Readable.from([Buffer.from(body)]),
    });
    return (forge: string) =>
      openRemoteForge({
        fetch,
        tokens: new Map(),
        project: { id: "p", forge, repositoryUrl: "https://forge.test/acme/docs", settings: plainSettings },
        credential: "t",
      }).readPullRequest(1, signal);
  }
  const taken = "https://forge.test/acme/docs/pulls/1";

  it("nothing is kept that no database takes", async () => {
    for (const { name } of vendors) {
      const found = await opened(1, taken, "a\0b\ud800c😀")(name);
      expect(found?.body).toBe("a\ufffdb\ufffdc😀");
    }
  });

  it.each([
    ["a script", 1, "javascript:alert(1)"],
    ["a page of data", 1, "data:text/html,x"],
    ["a quote", 1, 'https://forge.test/"onclick=x'],
    ["a terminal's escape", 1, "https://forge.test/\u001b[31m"],
    ["a very long address", 1, `https://forge.test/${"x".repeat(3000)}`],
    ["a number past the column's", 2 ** 31, taken],
    ["a number below zero", -1, taken],
  ])("%s becomes no link and no row", async (_what, number, url) => {
    for (const { name } of vendors) {
      await expect(opened(number, url)(name)).rejects.toMatchObject({ code: "forge_unavailable" });
      expect(await opened(1, taken)(name)).toMatchObject({ number: 1, url: taken });
    }
  });
});
