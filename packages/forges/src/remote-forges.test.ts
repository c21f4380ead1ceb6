import { Readable } from "node:stream";
import type { Fetch } from "@emend/base/network.ts";
import { forgeConformance } from "@emend/testkit/forges/conformance.ts";
import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { everyVendor, vendors } from "@emend/testkit/forges/vendors.ts";
import { quickRows } from "@emend/testkit/tier.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { plainSettings } from "./forge.ts";
import { openRemoteForge } from "./registry.ts";

const { signal } = new AbortController();

const passed = {
  github: "success",
  gitlab: "success",
  gitea: "success",
  bitbucket: "SUCCESSFUL",
  "azure-devops": "succeeded",
};

describe.each(quickRows(everyVendor, 3))("$label", (vendor) => {
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
      passed: passed[vendor.name],
      statusesOf: async (commit) =>
        [...far.state.statuses].flatMap(([key, status]) => (key.startsWith(commit) ? [status] : [])),
      async say(number, remark) {
        const id = far.state.comments.length + 1;
        far.state.comments.push({ id, pull: number, at: new Date(id * 1000).toISOString(), ...remark });
      },
    };
  });

  it("returns the forge's reason for a refused status, and no commits for a pull request that is gone", async () => {
    const forge = far.open();
    const pulls = [{ number: 987_654, head: "b", isFork: false }];
    const status = { commit: "1".repeat(40), pulls, name: "emend", state: "passed", words: "w" } as const;
    await expect(forge.setStatus({ ...status, url: "https://emend.test" }, signal)).rejects.toMatchObject({
      code: "forge_rejected",
      publicMessage: expect.stringMatching(/\w/),
    });
    const pull = { number: 987_654, url: "", title: "", body: "", head: "none", base: "main", isFork: true };
    expect(await forge.readPullRequestCommits({ ...pull, headCommit: "1".repeat(40) }, signal)).toBeNull();
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
    expect(await forge.findPullRequests({ head: "emend/gone" }, signal)).toMatchObject([
      { number: mine?.number, state: "merged" },
    ]);
  });

  it("finds its pull request in one page of a repository with thousands, and asks for none that is older", async () => {
    const forge = far.open();
    far.makeBranch("emend/young");
    const draft = { head: "emend/young", base: "main", title: "T", body: "", draft: false, checks: [] };
    const before = far.state.pulls;
    // Two thousand that are older than the job, more than any page limit.
    const old = (number: number) => ({ ...draft, number, state: "merged", at: new Date(number).toISOString() });
    far.state.pulls = Array.from({ length: 2000 }, (_, index) => old(index + 1)) as unknown as typeof before;
    for (const pull of far.state.pulls) Object.assign(pull, { head: "other", labels: [], reviewers: [], options: {} });
    const search = { head: "emend/young", base: "main", since: new Date("2025-12-01") };
    const asked = far.requests.length;
    expect(await forge.findPullRequests(search, signal)).toEqual([]);
    await forge.createPullRequest(draft, signal);
    expect(await forge.findPullRequests(search, signal)).toMatchObject([{ head: "emend/young", state: "open" }]);
    const lists = far.requests
      .slice(asked)
      .filter(({ operation }) => /(pulls|merge_requests|pullrequests)$/.test(operation));
    // Bitbucket is queried again right before the pull request is opened.
    const most = vendor.name === "bitbucket" ? 3 : 2;
    expect(lists.filter(({ operation }) => operation.startsWith("GET")).length).toBeLessThanOrEqual(most);
    far.state.pulls = before;
  });

  it("does not request a review again from people who approved", async () => {
    const forge = far.open({ reviewers: ["ada"] });
    far.makeBranch("emend/approved");
    const draft = { head: "emend/approved", base: "main", title: "T", body: "", draft: false, checks: [] };
    const created = await forge.createPullRequest(draft, signal);
    if (created.kind !== "created") throw new Error(created.kind);
    const { number } = created.pullRequest;
    far.state.reviews.push({ id: 71, pull: number, author: "ada", body: "", state: "approved", at: "2026-01-02" });
    const asked = far.requests.length;
    await forge.ensureDetails?.(number, signal);
    const requests = far.requests.slice(asked).map(({ operation }) => operation);
    // GitLab replaces the whole list, which does not notify people who are already on it.
    expect(requests.filter((operation) => operation.endsWith("requested_reviewers"))).toEqual([]);
    far.state.reviews = [];
  });

  it("reads the newest of a conversation that is too long", async () => {
    const startMs = Date.now() - 1_100 * 3_600_000;
    const before = far.state.comments;
    // Gitea's list has no pages.
    const words = "x".repeat(vendor.name === "gitea" ? 9_000 : 1);
    far.state.comments = Array.from({ length: 1_100 }, (_, index) => {
      const at = new Date(startMs + index * 3_600_000).toISOString();
      return { id: 300_000 + index, pull: 1, author: "eve", body: `${index} ${words}`, at };
    });
    const comments = (await far.open().conversation?.listComments(1, signal)) ?? [];
    expect(comments.at(-1)?.text).toMatch(/^1099 /);
    expect(comments.length).toBeGreaterThan(50);
    far.state.comments = before;
  });

  it("sets labels and reviewers, however often it is asked to", async () => {
    const forge = far.open({ labels: ["docs"], reviewers: ["ada"] });
    far.makeBranch("emend/details");
    const draft = { head: "emend/details", base: "main", title: "T", body: "", draft: false, checks: [] };
    const created = await forge.createPullRequest(draft, signal);
    if (created.kind !== "created") throw new Error(created.kind);
    const isBitbucket = vendor.name === "bitbucket";
    for (let time = 0; time < 2; time += 1) {
      const done = forge.ensureDetails?.(created.pullRequest.number, signal);
      if (isBitbucket) await expect(done).rejects.toThrow(/Bitbucket has no labels/);
      else await done;
    }
    expect(far.pullsOf("emend/details")).toMatchObject([{ labels: isBitbucket ? [] : ["docs"], reviewers: ["ada"] }]);
  });
});

describe.each(everyVendor.filter(({ name }) => name === "gitea"))("$label, as its releases are", (vendor) => {
  let far: FarEnd;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
  });
  afterAll(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });

  it("determines write access without administrator rights, and reports when it cannot", async () => {
    const { conversation, inspect } = far.open();
    const mayWrite = async (name: string) => conversation?.mayWrite(name, signal);
    const docs = { name: "Docs readers", code: "read" as const, members: ["rob"] };
    far.state.teams?.push(docs);
    // Ada can write and Rob can read. The public list has both.
    expect([await mayWrite("ada"), await mayWrite("rob"), await mayWrite("eve")]).toEqual(["unknown", "unknown", "no"]);
    expect((await inspect?.("emend/x", signal))?.unknownAuthors).toContain("Docs readers");
    far.state.isAdmin = true;
    expect([await mayWrite("ada"), await mayWrite("eve")]).toEqual(["yes", "no"]);
    expect((await inspect?.("emend/x", signal))?.unknownAuthors).toBeNull();
    Object.assign(far.state, { isAdmin: false, teams: null });
    expect([await mayWrite("ada"), await mayWrite("rob")]).toEqual(["yes", "no"]);
    far.state.teams = [{ name: "Writers", code: "write", members: ["ada"] }];
  });

  it("sets labels of the organization, past pages that the server keeps short", async () => {
    far.state.pageSizeMax = 2;
    far.state.labels = ["a", "b", "c", "d", "docs"];
    far.state.organizationLabels = ["x", "y", "shared"];
    const forge = far.open({ labels: ["docs", "shared"] });
    far.makeBranch("emend/labels");
    const draft = { head: "emend/labels", base: "main", title: "T", body: "", draft: false, checks: [] };
    const created = await forge.createPullRequest(draft, signal);
    if (created.kind !== "created") throw new Error(created.kind);
    await forge.ensureDetails?.(created.pullRequest.number, signal);
    expect(far.pullsOf("emend/labels")).toMatchObject([{ labels: ["docs", "shared"] }]);
    const missing = far.open({ labels: ["none"] }).ensureDetails?.(created.pullRequest.number, signal);
    await expect(missing).rejects.toMatchObject({ publicMessage: expect.stringContaining("none") });
  });
});

describe.each(everyVendor.filter(({ name }) => name === "github" || name === "gitea"))("$label", (vendor) => {
  it("tells a review as one thing with its comments on lines, and removed lines as such", async () => {
    const far = await startFarEnd(vendor);
    const at = "2026-01-02T00:00:00Z";
    far.state.reviews.push({ id: 41, pull: 1, author: "ada", body: "@emend please", state: "changes", at });
    // Not submitted yet: only its author sees it.
    far.state.reviews.push({ id: 42, pull: 1, author: "ada", body: "@emend not yet", state: "pending", at });
    const line = { pull: 1, author: "ada", at, path: "guides/start.md" };
    far.state.comments.push({ ...line, id: 1, body: "Shorter.", line: 3, review: 41 });
    far.state.comments.push({ ...line, id: 2, body: "Why gone?", line: 9, isRemovedLine: true, review: 41 });
    const said = await far.open().conversation?.listComments(1, signal);
    expect(said).toEqual([
      {
        id: "v41",
        author: "ada",
        text: "@emend please",
        path: null,
        line: null,
        requestsChanges: true,
        lines: [
          { id: "r1", author: "ada", text: "Shorter.", path: "guides/start.md", line: 3 },
          { id: "r2", author: "ada", text: "Why gone?", path: "guides/start.md", line: 9, isRemovedLine: true },
        ],
      },
    ]);
    await far.close();
    expect(far.violations).toEqual([]);
  });
});

it("takes GitLab's rights that come as null for unknown, and not for none", async () => {
  const vendor = vendors.find(({ name }) => name === "gitlab");
  if (!vendor) throw new Error("no GitLab");
  const far = await startFarEnd(vendor);
  far.state.mayPush = null;
  expect(await far.open().describeRepository(signal)).toMatchObject({ mayPush: null, mayOpenPullRequests: null });
  expect(far.violations).toEqual([]);
  await far.close();
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
  const created_at = "2026-01-01T00:00:00Z";
  const common = {
    created_at,
    state: "open",
    title: "T",
    body: "",
    merged: false,
    merged_at: null,
    head: branch,
    base: branch,
  };
  const gitlab = {
    description: "",
    source_branch: "b",
    target_branch: "b",
    source_project_id: 1,
    target_project_id: 1,
  };
  const bitbucket = {
    created_on: created_at,
    source: { branch: { name: "b" } },
    destination: { branch: { name: "b" } },
  };
  const azureDevops = { creationDate: created_at, sourceRefName: "refs/heads/b", targetRefName: "refs/heads/b" };
  const placeOf = (forge: string) => vendors.find(({ name }) => name === forge)?.path ?? "";
  /** In the format of each vendor. */
  function opened(number: number, url: string, text = "") {
    const texts = { body: text, description: text };
    const numbers = { number, iid: number, id: number, pullRequestId: number };
    const names = { ...numbers, status: "active", html_url: url, web_url: url, links: { html: { href: url } } };
    const body = JSON.stringify({ ...common, ...gitlab, ...bitbucket, ...azureDevops, ...texts, ...names });
    const fetch: Fetch = async () => ({
      status: 200,
      headers: new Headers(),
      body: Readable.from([Buffer.from(body)]),
    });
    return (forge: string) =>
      openRemoteForge({
        fetch,
        tokens: new Map(),
        project: { id: "p", forge, repositoryUrl: `https://forge.test/${placeOf(forge)}`, settings: plainSettings },
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
      // Azure DevOps names no page, so Emend makes its address.
      const own = `https://forge.test/${placeOf(name)}/pullrequest/1`;
      const isMade = name === "azure-devops";
      if (isMade && number === 1) expect(await opened(number, url)(name)).toMatchObject({ url: own });
      else await expect(opened(number, url)(name)).rejects.toMatchObject({ code: "forge_unavailable" });
      expect(await opened(1, taken)(name)).toMatchObject({ number: 1, url: isMade ? own : taken });
    }
  });
});
