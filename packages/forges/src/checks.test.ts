import { type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { giteaVendor } from "@emend/testkit/forges/gitea.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { vendors } from "@emend/testkit/forges/vendors.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CommitChecks } from "./forge.ts";
import { tailOf } from "./log-tail.ts";

const { signal } = new AbortController();

describe.each(vendors)("results of CI on $name", (vendor) => {
  let far: FarEnd;
  let checks: CommitChecks;
  let commit: string;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
    commit = far.makeBranch("emend/x");
    checks = far.open().checks as CommitChecks;
  });
  beforeEach(() => {
    far.state.checks = [];
    far.state.unreadableChecks = false;
  });
  afterAll(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });

  it("are none for a commit without", async () => {
    expect(await checks.report({ commit, pull: null }, signal)).toEqual({ checks: [], isWhole: true });
  });

  it("are listed by name with their state, and their log is read where the forge has it", async () => {
    const states = ["passed", "pending", "failed", "stopped"] as const;
    far.state.checks = [
      ...states.map((state, id) => ({ id: id + 1, commit, name: `job ${state}`, state, words: "w", log: "no" })),
      { id: 9, commit, name: "service", state: "failed", words: "2 dead links" },
      { id: 10, commit: "0".repeat(40), name: "another commit", state: "failed", words: "" },
    ];
    const report = await checks.report({ commit, pull: null }, signal);
    expect(report.isWhole).toBe(true);
    expect(report.checks.map(({ name, state, words }) => [name, state, words])).toEqual([
      ...states.map((state) => [`job ${state}`, state, "w"]),
      ["service", "failed", "2 dead links"],
    ]);
    // Bitbucket keeps logs of its Pipelines elsewhere, and other services keep their own.
    if (vendor.name === "bitbucket") return;
    // Longer than what is kept, with the end that matters.
    const log = `${"x".repeat(200_000)}\nthe \u001b[31mreason\u001b[0m`;
    far.state.checks = [{ id: 77, commit, name: "build", state: "failed", words: "", log }];
    const [build] = (await checks.report({ commit, pull: null }, signal)).checks;
    const read = await checks.readLog({ commit, log: build?.log ?? "" }, signal);
    expect(read).toMatch(/^… .*the reason$/s);
    expect(read?.length).toBeLessThan(6_100);
  });

  it("have no log where the forge gives none", async () => {
    expect(await checks.readLog({ commit, log: vendor.name === "gitea" ? "40/1234" : "1234" }, signal)).toBeNull();
  });
});

it("GitHub: a token that may not read check runs still reads statuses, and says that there may be more", async () => {
  const far = await startFarEnd(githubVendor);
  const commit = far.makeBranch("emend/x");
  far.state.unreadableChecks = true;
  far.state.checks = [
    { id: 1, commit, name: "unseen", state: "failed", words: "", log: "no" },
    { id: 2, commit, name: "service", state: "failed", words: "" },
  ];
  const report = await far.open().checks?.report({ commit, pull: null }, signal);
  expect(report).toMatchObject({ checks: [{ name: "service" }], isWhole: false });
  await far.close();
});

it("Gitea: an address with a job's place instead of its number never gives another job's log", async () => {
  const far = await startFarEnd(giteaVendor);
  const commit = far.makeBranch("emend/x");
  const other = { id: 0, commit: "0".repeat(40), name: "theirs", state: "failed", words: "", log: "theirs" } as const;
  far.state.checks = [other];
  expect(await far.open().checks?.readLog({ commit, log: "40/0" }, signal)).toBeNull();
  expect(await far.open().checks?.readLog({ commit: other.commit, log: "41/0" }, signal)).toBeNull();
  expect(await far.open().checks?.readLog({ commit: other.commit, log: "40/0" }, signal)).toBe("theirs");
  await far.close();
});

it("of a log of GitHub Actions, the part up to the last error counts, without times", () => {
  const log = [
    "2026-11-18T07:00:00.1234567Z ##[group]Run npm test",
    "2026-11-18T07:00:01.1234567Z ##[error]Process completed with exit code 1.",
    "2026-11-18T07:00:02.1234567Z Post job cleanup.",
  ];
  expect(tailOf(log.join("\n"))).toBe("##[group]Run npm test\n##[error]Process completed with exit code 1.");
  expect(tailOf("section_start:1:build\r\u001b[0KBuild\nfailed\n")).toBe("Build\nfailed");
});
