// Over 500 lines in one file: all of these tests share one database, its mirrors and two repositories, which take longer to
// set up than most of the tests take to run.
import { deflateSync } from "node:zlib";
import type { Claim } from "@emend/contract";
import type { Forge } from "@emend/forges";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import type { TestRepository } from "@emend/testkit/make-repository.ts";
import { type MirrorBench, openMirrorBench } from "@emend/testkit/mirrors.ts";
import { alterJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { createPageHistory, createRecentStart } from "@emend/tree";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { checkSiteHealth } from "../compose/check-site-health.ts";
import { AppError } from "../errors.ts";
import { readSiteHealth } from "../health/site-checks.ts";
import { addClaim, confirmClaim, listClaimFindings, listClaims, listClaimsNow, removeClaim } from "./claim-store.ts";
import { askedAbout, backfillLimit, backfillOf, type Reader } from "./drift/reader.ts";
import { type ClaimPollDeps, listDueClaims, pollClaims } from "./poll-claims.ts";

let database: TestDatabase;
let bench: MirrorBench;
let docs: TestRepository;
let code: TestRepository;
let projectId: string;
let count = 0;
beforeAll(async () => {
  database = await createTestDatabase();
  bench = openMirrorBench();
});
afterAll(async () => {
  await database.drop();
  await bench.close();
});

const page = "# Timeouts\n\nA call ends after 30 seconds.\n\nOther words.\n";
const net = `export function connect(options: Options) {
  const timeoutMs = options.timeoutMs ?? 30_000;
  return open({ timeoutMs });
}
`;
beforeEach(async () => {
  await database.pool.query("truncate projects cascade");
  projectId = await seedProject(database.pool);
  count += 1;
  docs = bench.repository(`docs-${count}`);
  code = bench.repository(`code-${count}`);
  docs.commit({ "docs/timeouts.md": page });
  code.commit({ "src/net.ts": net });
  await database.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     values ($2, $1, 'api', 'github', 'https://github.test/acme/api')`,
    [projectId, `ctx_api${count}`],
  );
});

const remote = ({ url }: TestRepository) => ({ url, authorization: null });
function deps(more: Partial<ClaimPollDeps> = {}): ClaimPollDeps {
  return {
    pool: database.pool,
    mirrors: bench.mirrors,
    ownRemote: async () => remote(docs),
    contextRemote: async () => remote(code),
    pageHistory: createPageHistory({ git: bench.git, dir: bench.mirrorsDir }),
    onMoved: async () => {},
    ...more,
  };
}
const look = (more: Partial<ClaimPollDeps> = {}) => pollClaims(deps(more), projectId, bench.signal);
const add = (place = "docs/timeouts.md:3", source = "@api/src/net.ts:2") =>
  addClaim(database.pool, { projectId, page: place, source, createdBy: "test" });
async function claims(): Promise<readonly Claim[]> {
  const query = { page: null, state: null, limit: 100, after: null };
  return (await listClaims(database.pool, projectId, query)).claims;
}
const only = async () => {
  const all = await claims();
  expect(all).toHaveLength(1);
  return all[0] as Claim;
};

test("an added claim is new until both places were read, and then the same", async () => {
  expect(await add()).toMatchObject({ state: "new", page: { line: 3, text: null }, source: { repository: "api" } });
  await look();
  expect(await only()).toMatchObject({
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
  code.commit({ "src/key.ts": `const token = "ghp_${"a1B2".repeat(9)}";\n` });
  await add("docs/timeouts.md:3", "@api/src/net.ts:99");
  await add("docs/timeouts.md:3", "@api/src/key.ts:1");
  await add("docs/none.md:1");
  await look();
  expect((await claims()).map(({ problem, state, source }) => [state, problem, source.text])).toEqual([
    ["new", "docs/none.md is not a text file of the repository.", null],
    ["new", expect.stringMatching(/^src\/(net.ts has no text at line 99|key.ts: line 1 contain)/), null],
    ["new", expect.stringMatching(/^src\/(net.ts has no text at line 99|key.ts: line 1 contain)/), null],
  ]);
});

test("new lines that hold a credential are not stored: the claim is gone", async () => {
  await add();
  await look();
  const key = `ghp_${"a1B2".repeat(9)}`;
  code.commit({ "src/net.ts": net.replace("30_000", `"${key}"`) });
  await look();
  expect(await only()).toMatchObject({ state: "gone", found: null });
  const { rows } = await database.pool.query("select claims::text as stored from claims");
  expect(JSON.stringify(rows)).not.toContain(key);
});

test("moved lines are followed without a report", async () => {
  await add();
  await look();
  code.commit({ "src/net.ts": null, "lib/connect.ts": `// Moved.\n${net}` });
  await look();
  expect(await only()).toMatchObject({ state: "same", source: { path: "lib/connect.ts", line: 3 }, changedAt: null });
});

test("changed lines are reported with old and new text and the commit; restored lines are the same again", async () => {
  await add();
  await look();
  const id = code.commit({ "src/net.ts": `// More.\n${net.replace("30_000", "60_000")}` });
  await look();
  const changed = await only();
  expect(changed).toMatchObject({
    state: "changed",
    source: { line: 2, text: "  const timeoutMs = options.timeoutMs ?? 30_000;" },
    found: { path: "src/net.ts", line: 3, text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
    cause: { commit: id, author: "Test", message: "test", pullRequest: null },
  });
  expect(changed.changedAt).not.toBeNull();
  expect(await listClaimFindings(database.pool, projectId)).toMatchObject([
    {
      check: "changed-claim",
      repository: "api",
      cause: { commit: id },
      claimId: changed.id,
      severity: "warning",
      path: "docs/timeouts.md",
      line: 3,
      message: `The text relies on \`@api/src/net.ts:2\`, which changed in ${id.slice(0, 10)} by Test: \`const timeoutMs = options.timeoutMs ?? 30_000;\` is now \`const timeoutMs = options.timeoutMs ?? 60_000;\`. Correct the text or, if it is right, run \`emend claims confirm ${changed.id}\`.`,
    },
  ]);
  // A later commit to the same file is not the cause.
  code.commit({ "src/net.ts": `// More.\n${net.replace("30_000", "60_000")}// The end.\n` });
  await look();
  expect(await only()).toEqual(changed);
  code.commit({ "src/net.ts": net });
  await look();
  expect(await only()).toMatchObject({ state: "same", found: null, cause: null, changedAt: null });
});

test("removed lines are gone, and found again wherever they come back", async () => {
  await add();
  await look();
  code.commit({ "src/net.ts": null });
  await look();
  expect(await only()).toMatchObject({
    state: "gone",
    found: null,
    source: { text: expect.stringContaining("30_000") },
  });
  code.commit({ "src/other.ts": net });
  await look();
  expect(await only()).toMatchObject({ state: "same", source: { path: "src/other.ts" } });
});

test("confirming binds a claim to the current lines; only a changed claim can be confirmed", async () => {
  const { id } = await add();
  await look();
  await expect(confirmClaim(database.pool, projectId, id)).rejects.toThrow(/Only a changed claim/);
  code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  await look();
  expect(await confirmClaim(database.pool, projectId, id)).toMatchObject({
    state: "same",
    source: { text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
  });
  code.commit({ "README.md": "x" });
  await look();
  expect(await only()).toMatchObject({ state: "same", source: { text: expect.stringContaining("60_000") } });
});

test("what somebody confirms while a look is under way is not overwritten", async () => {
  const { id } = await add();
  await look();
  code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  await look();
  code.commit({ "src/net.ts": net.replace("const timeoutMs", "const waitMs").replace("30_000", "90_000") });
  // The cause is looked up after a claim is compared and before the result is stored.
  await database.pool.query("update claims set cause = null");
  await look({
    async pageHistory() {
      await confirmClaim(database.pool, projectId, id);
      return [];
    },
  });
  expect(await only()).toMatchObject({
    state: "same",
    source: { text: expect.stringContaining("timeoutMs ?? 60_000") },
  });
});

test("a claim follows its text on the page, to another page too, and ends with it", async () => {
  await add();
  await look();
  docs.commit({ "docs/timeouts.md": `---\ntitle: T\n---\n${page}` });
  await look();
  expect(await only()).toMatchObject({ page: { path: "docs/timeouts.md", line: 6 } });
  docs.commit({ "docs/timeouts.md": null, "docs/limits.md": page });
  await look();
  expect(await only()).toMatchObject({ page: { path: "docs/limits.md", line: 3 } });
  docs.commit({ "docs/limits.md": page.replace("30 seconds", "a minute") });
  await look();
  expect(await claims()).toEqual([]);
});

test("the project's own repository can be cited", async () => {
  docs.commit({ "src/net.ts": net });
  await add("docs/timeouts.md:3", "src/net.ts:2");
  await look();
  expect(await only()).toMatchObject({ state: "same", source: { repository: null } });
  docs.commit({ "src/net.ts": net.replace("30_000", "5") });
  await look();
  expect(await only()).toMatchObject({ state: "changed" });
});

test("an unreadable repository is reported, and its claims stay as they are", async () => {
  await add();
  await look();
  const before = await only();
  await look({
    async contextRemote() {
      throw new AppError("repository_unavailable", { publicMessage: "The repository does not answer." });
    },
  });
  expect(await only()).toEqual(before);
  const problem = async () => (await database.pool.query("select problem from claim_looks")).rows[0].problem;
  expect(await problem()).toBe("api: The repository does not answer.");
  await look();
  expect(await problem()).toBeNull();
});

test("a force-push to another history is looked at like any other commit", async () => {
  await add();
  await look();
  code.commit({ "src/net.ts": `// New history.\n${net}` }, { from: null });
  await look();
  expect(await only()).toMatchObject({ state: "same", source: { line: 3 } });
});

async function mergedJob(sources: readonly object[], diff: string): Promise<string> {
  const id = await seedJob(database.pool, projectId);
  await alterJob(database.pool, id, `status = 'completed', pull_request = '{"number": 1, "state": "merged"}'`);
  await database.pool.query("update jobs set sources = $2, diff = $3 where id = $1", [
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
  docs.commit({ "docs/timeouts.md": "# Timeouts\n\nOther words.\n\nA call has a timeout of 30_000 milliseconds.\n" });
  const elsewhere = { path: "src/other.ts", cited: { ...cited, text: "const timeout = 30_000;" } };
  const foreign = source({ repositoryUrl: "https://github.test/acme/other", ...elsewhere });
  const id = await mergedJob([source(), foreign, source({ cited: undefined })], diff);
  await look();
  await look();
  expect(await only()).toMatchObject({
    state: "same",
    jobId: id,
    page: { path: "docs/timeouts.md", line: 5, text: "A call has a timeout of 30_000 milliseconds." },
    source: { repository: "api", line: 2, symbol: "timeoutMs" },
  });
});

test("a source that names its sentence is bound to it, whatever other paragraph shares more words", async () => {
  docs.commit({ "docs/timeouts.md": "# Timeouts\n\nOther words.\n\nA call has a timeout of 30_000 milliseconds.\n" });
  await mergedJob([source({ supports: "Other words." })], diff);
  await look();
  expect(await only()).toMatchObject({ page: { line: 3, lineEnd: 3, text: "Other words." } });
});

test("a change of the code before the merge is found at the first look", async () => {
  docs.commit({ "docs/timeouts.md": "# Timeouts\n\nA call has a timeout of 30_000 milliseconds.\n" });
  code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  await mergedJob([source()], diff);
  await look();
  expect(await only()).toMatchObject({ state: "changed", found: { text: expect.stringContaining("60_000") } });
});

test("what reviewers rewrote before the merge makes no claim", async () => {
  await mergedJob([source()], diff.replaceAll("Other words.", "More."));
  await look();
  expect(await claims()).toEqual([]);
});

test("projects are due with claims, merged citations or code to compare, once in their time", async () => {
  expect(await listDueClaims(database.pool)).toEqual([projectId]);
  await database.pool.query("delete from context_repositories");
  await database.pool.query("update claim_looks set due_at = clock_timestamp()");
  expect(await listDueClaims(database.pool)).toEqual([]);
  await mergedJob([source()], diff);
  expect(await listDueClaims(database.pool)).toEqual([projectId]);
  expect(await listDueClaims(database.pool)).toEqual([]);
  const { id } = await add("docs/timeouts.md:3", "docs/timeouts.md:3");
  expect(await listDueClaims(database.pool)).toEqual([projectId]);
  await look();
  await removeClaim(database.pool, projectId, id);
  await database.pool.query("update claim_looks set due_at = clock_timestamp()");
  await database.pool.query("delete from claims");
  expect(await listDueClaims(database.pool)).toEqual([]);
});

const flags = (flag: string) => `export const options = [{ flag: "${flag}" }, { flag: "--quiet" }];\n`;

async function checkedHealth(more: Partial<ClaimPollDeps> = {}, reader: Reader | null = null) {
  const siteDeps = {
    openReader: async () => reader,
    ...deps(more),
    siteCache: new Map<string, string>(),
    indexes: new Map(),
    siteHistory: async () => new Map(),
    linkFetch: () => Promise.reject(new Error("no links are requested")),
    openForge: async () => ({ gitRemote: async () => remote(docs) }) as unknown as Forge,
  };
  await checkSiteHealth(siteDeps, projectId, bench.signal);
  const { checks, findings, problem } = await readSiteHealth(database.pool, projectId);
  expect(problem).toBeNull();
  return { checks, findings: findings.filter(({ check }) => check !== "orphan-page") };
}

test("names that the code renamed or removed are found on their pages, with the change, until page or code has them right", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`, or `--quiet`.\n\nAgain: `--out-file`.\n" });
  code.commit({ "src/cli.ts": flags("--out-file") });
  expect((await checkedHealth()).findings).toEqual([]);
  const renamed = code.commit({ "src/cli.ts": flags("--output") });
  const { checks, findings } = await checkedHealth();
  const found = {
    check: "stale-reference",
    severity: "error",
    path: "docs/run.md",
    message: "`--out-file` was renamed to `--output`. Use the new name.",
    repository: "api",
    cause: { commit: renamed, author: "Test", message: "test", pullRequest: null },
    renamed: { from: "--out-file", to: "--output" },
  };
  expect(findings).toMatchObject([
    { ...found, line: 3 },
    { ...found, line: 5 },
  ]);
  // A new commit of the code is a new point in the history, even if the docs are unchanged.
  expect(checks.map(({ counts }) => counts.find(({ check }) => check === "stale-reference")?.count)).toEqual([
    undefined,
    2,
  ]);
  expect(checks.at(-1)?.sources).toEqual([{ repository: "api", commit: renamed, problem: null }]);

  // It stays until the page's text changes.
  code.commit({ "src/cli.ts": `${flags("--output")}// More.\n` });
  docs.commit({ "docs/run.md": "# Run\n\nUse `--quiet`.\n\nAgain: `--out-file`.\n" });
  expect((await checkedHealth()).findings).toMatchObject([{ ...found, line: 5 }]);
  // It follows its page to a new name, even if the page was edited too.
  docs.commit({ "docs/run.md": null, "docs/use/run.md": "# Run\n\nUse `--quiet`.\n\nAgain, use `--out-file`.\n" });
  const moved = { ...found, path: "docs/use/run.md", line: 5 };
  expect((await checkedHealth()).findings).toMatchObject([moved]);
  expect((await checkedHealth()).findings).toMatchObject([moved]);
  docs.commit({ "docs/use/run.md": null, "docs/run.md": "# Run\n\nUse `--quiet`.\n\nAgain: `--out-file`.\n" });
  code.commit({ "src/cli.ts": flags("--out-file") });
  expect((await checkedHealth()).findings).toEqual([]);
  code.commit({ "src/cli.ts": "export const options = [];\n" });
  expect((await checkedHealth()).findings.map(({ line, message }) => [line, message])).toEqual([
    [3, "`--quiet` is no longer in the code (src/cli.ts had it). Correct the page."],
    [5, "`--out-file` is no longer in the code (src/cli.ts had it). Correct the page."],
  ]);
  docs.commit({ "docs/run.md": "# Run\n" });
  expect((await checkedHealth()).findings).toEqual([]);
});

test("a name that another package may have is a warning, and nothing renames it by itself", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nChoose `deepMode`.\n" });
  code.commit({ "src/mode.ts": 'type Mode = "deepMode";\n' });
  await checkedHealth();
  code.commit({ "src/mode.ts": 'type Mode = "deepWay";\n' });
  const { findings } = await checkedHealth();
  const message =
    "`deepMode` was renamed to `deepWay`. Another package may have it: change the page only if it means this one.";
  expect(findings).toMatchObject([{ check: "stale-reference", severity: "warning", message }]);
  expect(findings[0]).not.toHaveProperty("renamed");
  // It is kept while its page is of an earlier version.
  docs.commit({ "docs/v1/run.md": "# Run\n\nChoose `deepMode`.\n", "docs/run.md": null });
  expect((await checkedHealth()).findings).toHaveLength(1);
  docs.commit({ "docs/v2/run.md": "# Run\n" });
  expect((await checkedHealth()).findings).toEqual([]);
  docs.commit({ "docs/v2/run.md": null });
  expect((await checkedHealth()).findings).toMatchObject([{ path: "docs/v1/run.md" }]);
});

test("a new source is compared once with its state of some days ago", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`. It waits (`--wait`, default `30s`).\n" });
  const waits = (time: string) => `option("--wait", "how long", "${time}");\n`;
  code.commit({ "src/cli.ts": flags("--out-file"), "src/wait.ts": waits("30s") });
  code.commit({ "src/cli.ts": flags("--output"), "src/wait.ts": waits("60s") });
  const recentStart = createRecentStart({ git: bench.git, dir: bench.mirrorsDir });
  const found = async (start: typeof recentStart) =>
    (await checkedHealth({ recentStart: start } as object)).findings.map(({ check, line }) => [check, line]);
  // The commits of tests are old.
  const ofTwo: typeof recentStart = (input, signal) => recentStart({ ...input, days: 10_000, commitsMax: 2 }, signal);
  expect(await found(ofTwo)).toEqual([["stale-reference", 3]]);
  await look();
  expect(await only()).toMatchObject({ state: "changed", source: { path: "src/wait.ts" } });
  const never = () => Promise.reject(new Error("asked again"));
  expect((await found(never)).map(([check]) => check).sort()).toEqual(["changed-claim", "stale-reference"]);
  // With a model, the days are read in parts, within a limit of their own.
  await database.pool.query("delete from reference_looks; delete from stale_references; delete from claims");
  const long = (time: string) => `${waits(time)}${"// long\n".repeat(1_100)}`;
  code.commit({ "src/wait.ts": waits("60s"), "src/a.ts": long("1s"), "src/b.ts": long("2s") });
  const asked: string[] = [];
  const report = { outdated: [], missing: [] };
  const reader: Reader = {
    model: "test/model",
    async ask({ text, tool }) {
      if (tool.name === "report") asked.push(text);
      return { answer: tool.name === "report" ? report : null, costUsd: 0.01 };
    },
  };
  await checkedHealth({ recentStart: ofTwo } as object, reader);
  expect(asked.map((text) => ["src/a.ts", "src/b.ts"].filter((path) => text.includes(path)))).toEqual([
    ["src/a.ts"],
    ["src/b.ts"],
  ]);
  const { rows } = await database.pool.query("select id from context_repositories where project_id = $1", [projectId]);
  const subject = backfillOf(rows[0].id);
  expect(await askedAbout(database.pool, { projectId, subject }, backfillLimit)).toMatchObject({
    requests: expect.any(Number),
    requestsMax: backfillLimit.requestsMax,
  });
  // Where the history cannot be read, it begins with the newest commit.
  await database.pool.query("delete from reference_looks; delete from stale_references; delete from claims");
  expect(await found(async () => null)).toEqual([]);
  expect(await recentStart({ remote: remote(code), branch: "nothing", days: 30, commitsMax: 200 }, bench.signal)).toBe(
    null,
  );
});

test("a check that finds warnings and errors counts as errors", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nChoose `deepMode`.\n\nUse `--out-file`.\n" });
  code.commit({ "src/cli.ts": flags("--out-file"), "src/mode.ts": 'type Mode = "deepMode";\n' });
  await checkedHealth();
  code.commit({ "src/cli.ts": flags("--output"), "src/mode.ts": 'type Mode = "flat";\n' });
  const { checks, findings } = await checkedHealth();
  expect(findings.map(({ severity }) => severity)).toEqual(["error", "warning"]);
  expect(checks.at(-1)?.counts).toContainEqual({ check: "stale-reference", severity: "error", count: 2, fixable: 0 });
});

test("a claim is silenced where it stands, and a silencer that nothing needs is told", async () => {
  await add();
  await look();
  code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  docs.commit({
    "docs/timeouts.md": page.replace("A call", "<!-- emend-ignore changed-claim: on purpose -->\nA call"),
  });
  await look();
  expect(await only()).toMatchObject({ state: "changed", page: { line: 4 } });
  const { checks, findings } = await checkedHealth();
  expect(findings).toEqual([]);
  const last = { checkedAt: checks.at(-1)?.checkedAt, findings };
  expect(await listClaimsNow(database.pool, projectId, last)).toEqual([]);
  expect(await listClaimsNow(database.pool, projectId, { ...last, checkedAt: new Date(0) })).toHaveLength(1);
  code.commit({ "src/net.ts": net });
  await look();
  expect((await checkedHealth()).findings).toMatchObject([
    { check: "silencer", line: 3, message: "This comment silences no finding of `changed-claim`; remove it." },
  ]);
});

test("the project's settings silence claims and references, and a pattern that nothing needs is told", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`.\n" });
  code.commit({ "src/cli.ts": flags("--out-file") });
  await add();
  await look();
  await checkedHealth();
  const ignore = ["changed-claim", "stale-reference"].map((check) => ({ check, path: "docs/*", reason: "on purpose" }));
  await database.pool.query("update projects set settings = $2 where id = $1", [projectId, { checks: { ignore } }]);
  const told = async () => (await checkedHealth()).findings.map(({ check, path, message }) => [check, path, message]);
  const unused = (check: string, at: number) => [
    "silencer",
    "project settings",
    `"checks.ignore" ${at} in the project's settings silences no finding of \`${check}\`; remove it.`,
  ];
  expect((await told()).sort()).toEqual([unused("changed-claim", 1), unused("stale-reference", 2)]);
  code.commit({ "src/cli.ts": flags("--output"), "src/net.ts": net.replace("30_000", "60_000") });
  await look();
  expect(await told()).toEqual([]);
  await database.pool.query("update projects set settings = '{}' where id = $1", [projectId]);
  expect((await checkedHealth()).findings.map(({ check }) => check).sort()).toEqual([
    "changed-claim",
    "stale-reference",
  ]);
});

test("a force-push of the code is reported, and an unreadable source keeps its findings", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`.\n" });
  code.commit({ "src/cli.ts": flags("--out-file") });
  await checkedHealth();
  await database.pool.query("update reference_looks set commit_id = $1", ["d".repeat(40)]);
  const { checks, findings } = await checkedHealth();
  expect(findings).toEqual([]);
  expect(checks.at(-1)?.sources[0]?.problem).toMatch(
    /^Commit dddddddddd is gone, .* Emend compares from [0-9a-f]{10} on\.$/,
  );
  code.commit({ "src/cli.ts": flags("--output") });
  expect((await checkedHealth()).findings).toHaveLength(1);
  const url = code.url;
  code = { ...code, url: `${url}.none` };
  const unread = await checkedHealth();
  expect(unread.findings).toHaveLength(1);
  expect(unread.checks.at(-1)?.sources).toEqual([
    { repository: "api", commit: null, problem: expect.stringMatching(/^The repository/) },
  ]);

  // Another source that cannot be read may have the name.
  code = { ...code, url };
  await database.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     values ('ctx_other', $1, 'other', 'github', 'https://github.test/acme/other')`,
    [projectId],
  );
  const unsure = await checkedHealth({
    async contextRemote(id) {
      if (id === "ctx_other") throw new AppError("repository_unavailable", { publicMessage: "Away." });
      return remote(code);
    },
  });
  expect(unsure.findings).toMatchObject([
    { severity: "warning", message: expect.stringMatching(/ Emend could not read other, which may have it\.$/) },
  ]);
});

test("a new commit of docs or code asks for a check of the site, once", async () => {
  const asked: string[] = [];
  const onMoved = async (id: string) => void asked.push(id);
  await look({ onMoved });
  await look({ onMoved });
  expect(asked).toEqual([projectId]);
  code.commit({ "src/cli.ts": flags("--output") });
  await look({ onMoved });
  expect(asked).toEqual([projectId, projectId]);
});

test("a default that a push changes is a changed claim of the page that shows it", async () => {
  const cli = (limit: number) => `p.add_argument("--retry-limit", default=${limit})\n`;
  docs.commit({ "docs/run.md": "# Run\n\nUse `--retry-limit` (default: 3).\n" });
  code.commit({ "src/cli.py": cli(3) });
  await look();
  await checkedHealth();
  code.commit({ "src/cli.py": cli(5) });
  await look();
  await checkedHealth();
  // The push made the claim due again.
  expect(await listDueClaims(database.pool)).toEqual([projectId]);
  await look();
  expect(await only()).toMatchObject({
    state: "changed",
    page: { path: "docs/run.md", line: 3, text: "Use `--retry-limit` (default: 3)." },
    source: { path: "src/cli.py", text: cli(3).trim() },
    found: { text: cli(5).trim() },
  });
  expect((await checkedHealth()).findings).toMatchObject([{ check: "changed-claim", path: "docs/run.md", line: 3 }]);
});

test("a model that reads a push ends what is still right, and makes claims of what is outdated", async () => {
  docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`.\n" });
  code.commit({ "src/cli.ts": flags("--out-file") });
  const part = {
    block: 1,
    quote: "ends after 30 seconds",
    diff: "const timeoutMs = options.timeoutMs ?? 60_000;",
    why: "It is 60 now.",
  };
  const reader: Reader = {
    model: "test/reader",
    async ask({ tool, text }) {
      if (tool.name === "answer") return { answer: { verdict: "still right", reason: "It still works." }, costUsd: 0 };
      const block = Number(/\[(\d+)\] docs\/timeouts\.md:1/.exec(text)?.[1]);
      return { answer: { outdated: [{ ...part, block }], missing: [] }, costUsd: 0 };
    },
  };
  await look();
  await checkedHealth({}, reader);
  code.commit({ "src/cli.ts": flags("--output"), "src/net.ts": net.replace("30_000", "60_000") });
  await look();
  expect((await checkedHealth({}, reader)).findings).toEqual([]);
  await look();
  expect(await only()).toMatchObject({
    state: "changed",
    page: { path: "docs/timeouts.md", line: 3 },
    found: { text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
  });
});
