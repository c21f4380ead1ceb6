import { deflateSync } from "node:zlib";
import { type ClaimBench, type ClaimProject, net, openClaimBench, page } from "@emend/testkit/claim-bench.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { AppError } from "../errors.ts";
import { confirmClaim, listClaimFindings, removeClaim } from "./claim-store.ts";
import { listDueClaims } from "./poll-claims.ts";

let bench: ClaimBench;
let at: ClaimProject;
beforeAll(async () => {
  bench = await openClaimBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  at = await bench.begin();
});

test("an added claim is new until both places were read, and then the same", async () => {
  expect(await at.add()).toMatchObject({ state: "new", page: { line: 3, text: null }, source: { repository: "api" } });
  await at.look();
  expect(await at.only()).toMatchObject({
    state: "same",
    page: { path: "docs/timeouts.md", line: 3, lineEnd: 3, text: "A call ends after 30 seconds." },
    source: {
      path: "src/net.ts",
      line: 2,
      text: "  const timeoutMs = options.timeoutMs ?? 30_000;",
      symbol: "timeoutMs",
    },
    problem: null,
  });
});

test("a missing place, and one with a credential, are reported and not stored", async () => {
  at.code.commit({ "src/key.ts": `const token = "ghp_${"a1B2".repeat(9)}";\n` });
  await at.add("docs/timeouts.md:3", "@api/src/net.ts:99");
  await at.add("docs/timeouts.md:3", "@api/src/key.ts:1");
  await at.add("docs/none.md:1");
  await at.look();
  expect((await at.claims()).map(({ problem, state, source }) => [state, problem, source.text])).toEqual([
    ["new", "docs/none.md is not a text file of the repository.", null],
    ["new", expect.stringMatching(/^src\/(net.ts has no text at line 99|key.ts: line 1 contain)/), null],
    ["new", expect.stringMatching(/^src\/(net.ts has no text at line 99|key.ts: line 1 contain)/), null],
  ]);
});

test("new lines that hold a credential are not stored: the claim is gone", async () => {
  await at.add();
  await at.look();
  const key = `ghp_${"a1B2".repeat(9)}`;
  at.code.commit({ "src/net.ts": net.replace("30_000", `"${key}"`) });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "gone", found: null });
  const { rows } = await bench.pool.query("select claims::text as stored from claims");
  expect(JSON.stringify(rows)).not.toContain(key);
});

test("moved lines are followed without a report", async () => {
  await at.add();
  await at.look();
  at.code.commit({ "src/net.ts": null, "lib/connect.ts": `// Moved.\n${net}` });
  await at.look();
  expect(await at.only()).toMatchObject({
    state: "same",
    source: { path: "lib/connect.ts", line: 3 },
    changedAt: null,
  });
});

test("changed lines are reported with old and new text and the commit; restored lines are the same again", async () => {
  await at.add();
  await at.look();
  const id = at.code.commit({ "src/net.ts": `// More.\n${net.replace("30_000", "60_000")}` });
  await at.look();
  const changed = await at.only();
  expect(changed).toMatchObject({
    state: "changed",
    source: { line: 2, text: "  const timeoutMs = options.timeoutMs ?? 30_000;" },
    found: { path: "src/net.ts", line: 3, text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
    cause: { commit: id, author: "Test", message: "test", pullRequest: null },
  });
  expect(changed.changedAt).not.toBeNull();
  expect(await listClaimFindings(bench.pool, at.projectId)).toMatchObject([
    {
      check: "changed-claim",
      repository: "api",
      cause: { commit: id },
      claimId: changed.id,
      severity: "warning",
      path: "docs/timeouts.md",
      line: 3,
      message: `The text relies on \`@api/src/net.ts:2\`, which changed in ${id.slice(0, 10)} by Test: \`const timeoutMs = options.timeoutMs ?? 30_000;\` is now \`const timeoutMs = options.timeoutMs ?? 60_000;\`. Correct the text or, if it is right, confirm the claim.`,
    },
  ]);
  // A later commit to the same file is not the cause.
  at.code.commit({ "src/net.ts": `// More.\n${net.replace("30_000", "60_000")}// The end.\n` });
  await at.look();
  expect(await at.only()).toEqual(changed);
  at.code.commit({ "src/net.ts": net });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "same", found: null, cause: null, changedAt: null });
});

test("removed lines are gone, and found again wherever they come back", async () => {
  await at.add();
  await at.look();
  at.code.commit({ "src/net.ts": null });
  await at.look();
  expect(await at.only()).toMatchObject({
    state: "gone",
    found: null,
    source: { text: expect.stringContaining("30_000") },
  });
  at.code.commit({ "src/other.ts": net });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "same", source: { path: "src/other.ts" } });
});

test("confirming binds a claim to the current lines; only a changed claim can be confirmed", async () => {
  const { id } = await at.add();
  await at.look();
  await expect(confirmClaim(bench.pool, at.projectId, id)).rejects.toThrow(/Only a changed claim/);
  at.code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  await at.look();
  expect(await confirmClaim(bench.pool, at.projectId, id)).toMatchObject({
    state: "same",
    source: { text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
  });
  at.code.commit({ "README.md": "x" });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "same", source: { text: expect.stringContaining("60_000") } });
});

test("what somebody confirms while a look is under way is not overwritten", async () => {
  const { id } = await at.add();
  await at.look();
  at.code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  await at.look();
  at.code.commit({ "src/net.ts": net.replace("const timeoutMs", "const waitMs").replace("30_000", "90_000") });
  // The cause is looked up after a claim is compared and before the result is stored.
  await bench.pool.query("update claims set cause = null");
  await at.look({
    async pageHistory() {
      await confirmClaim(bench.pool, at.projectId, id);
      return [];
    },
  });
  expect(await at.only()).toMatchObject({
    state: "same",
    source: { text: expect.stringContaining("timeoutMs ?? 60_000") },
  });
});

test("a claim follows its text on the page, to another page too, and ends with it", async () => {
  await at.add();
  await at.look();
  at.docs.commit({ "docs/timeouts.md": `---\ntitle: T\n---\n${page}` });
  await at.look();
  expect(await at.only()).toMatchObject({ page: { path: "docs/timeouts.md", line: 6 } });
  at.docs.commit({ "docs/timeouts.md": null, "docs/limits.md": page });
  await at.look();
  expect(await at.only()).toMatchObject({ page: { path: "docs/limits.md", line: 3 } });
  at.docs.commit({ "docs/limits.md": page.replace("30 seconds", "a minute") });
  await at.look();
  expect(await at.claims()).toEqual([]);
});

test("the project's own repository can be cited", async () => {
  at.docs.commit({ "src/net.ts": net });
  await at.add("docs/timeouts.md:3", "src/net.ts:2");
  await at.look();
  expect(await at.only()).toMatchObject({ state: "same", source: { repository: null } });
  at.docs.commit({ "src/net.ts": net.replace("30_000", "5") });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "changed" });
});

test("an unreadable repository is reported, and its claims stay as they are", async () => {
  await at.add();
  await at.look();
  const before = await at.only();
  await at.look({
    async contextRemote() {
      throw new AppError("repository_unavailable", { publicMessage: "The repository does not answer." });
    },
  });
  expect(await at.only()).toEqual(before);
  const problem = async () => (await bench.pool.query("select problem from claim_looks")).rows[0].problem;
  expect(await problem()).toBe("api: The repository does not answer.");
  await at.look();
  expect(await problem()).toBeNull();
});

test("a force-push to another history is looked at like any other commit", async () => {
  await at.add();
  await at.look();
  at.code.commit({ "src/net.ts": `// New history.\n${net}` }, { from: null });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "same", source: { line: 3 } });
});

async function mergedJob(sources: readonly object[], diff: string): Promise<string> {
  const id = await seedJob(bench.pool, at.projectId);
  await alterJob(bench.pool, id, `status = 'completed', pull_request = '{"number": 1, "state": "merged"}'`);
  await bench.pool.query("update jobs set sources = $2, diff = $3 where id = $1", [
    id,
    JSON.stringify(sources),
    deflateSync(diff),
  ]);
  return id;
}
const diff = `diff --git a/docs/timeouts.md b/docs/timeouts.md
--- a/docs/timeouts.md
+++ b/docs/timeouts.md
@@ -1,2 +1,5 @@
 # Timeouts
 
+Other words.
+
+A call has a timeout of 30_000 milliseconds.
`;
const cited = { lineEnd: 2, text: "  const timeoutMs = options.timeoutMs ?? 30_000;", symbol: "timeoutMs" };
const source = (more = {}) => ({
  repository: "api",
  repositoryUrl: "https://github.test/acme/api",
  forge: "github",
  path: "src/net.ts",
  line: 2,
  commit: "c".repeat(40),
  cited,
  ...more,
});

test("what a merged job cited is kept once, bound to the paragraph that it is about, and held to the code from then on", async () => {
  at.docs.commit({
    "docs/timeouts.md": "# Timeouts\n\nOther words.\n\nA call has a timeout of 30_000 milliseconds.\n",
  });
  const elsewhere = { path: "src/other.ts", cited: { ...cited, text: "const timeout = 30_000;" } };
  const foreign = source({ repositoryUrl: "https://github.test/acme/other", ...elsewhere });
  const id = await mergedJob([source(), foreign, source({ cited: undefined })], diff);
  await at.look();
  await at.look();
  expect(await at.only()).toMatchObject({
    state: "same",
    jobId: id,
    page: { path: "docs/timeouts.md", line: 5, text: "A call has a timeout of 30_000 milliseconds." },
    source: { repository: "api", line: 2, symbol: "timeoutMs" },
  });
});

test("a source that names its sentence is bound to it, whatever other paragraph shares more words", async () => {
  at.docs.commit({
    "docs/timeouts.md": "# Timeouts\n\nOther words.\n\nA call has a timeout of 30_000 milliseconds.\n",
  });
  await mergedJob([source({ supports: "Other words." })], diff);
  await at.look();
  expect(await at.only()).toMatchObject({ page: { line: 3, lineEnd: 3, text: "Other words." } });
});

test("a change of the code before the merge is found at the first look", async () => {
  at.docs.commit({ "docs/timeouts.md": "# Timeouts\n\nA call has a timeout of 30_000 milliseconds.\n" });
  at.code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  await mergedJob([source()], diff);
  await at.look();
  expect(await at.only()).toMatchObject({ state: "changed", found: { text: expect.stringContaining("60_000") } });
});

test("what reviewers rewrote before the merge makes no claim", async () => {
  await mergedJob([source()], diff.replaceAll("Other words.", "More."));
  await at.look();
  expect(await at.claims()).toEqual([]);
});

test("projects are due with claims, merged citations or code to compare, once in their time", async () => {
  expect(await listDueClaims(bench.pool)).toEqual([at.projectId]);
  await bench.pool.query("delete from context_repositories");
  await bench.pool.query("update claim_looks set due_at = clock_timestamp()");
  expect(await listDueClaims(bench.pool)).toEqual([]);
  await mergedJob([source()], diff);
  expect(await listDueClaims(bench.pool)).toEqual([at.projectId]);
  expect(await listDueClaims(bench.pool)).toEqual([]);
  const { id } = await at.add("docs/timeouts.md:3", "docs/timeouts.md:3");
  expect(await listDueClaims(bench.pool)).toEqual([at.projectId]);
  await at.look();
  await removeClaim(bench.pool, at.projectId, id);
  await bench.pool.query("update claim_looks set due_at = clock_timestamp()");
  await bench.pool.query("delete from claims");
  expect(await listDueClaims(bench.pool)).toEqual([]);
});
