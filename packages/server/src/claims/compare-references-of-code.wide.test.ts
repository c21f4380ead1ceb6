import type { Forge } from "@emend/forges";
import { type ClaimBench, type ClaimProject, net, openClaimBench, page, remote } from "@emend/testkit/claim-bench.ts";
import { createRecentStart } from "@emend/tree";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { checkSiteHealth } from "../compose/check-site-health.ts";
import { AppError } from "../errors.ts";
import { readSiteHealth } from "../health/site-checks.ts";
import { listClaimsNow } from "./claim-store.ts";
import { askedAbout, backfillLimit, backfillOf, type Reader } from "./drift/reader.ts";
import { type ClaimPollDeps, listDueClaims } from "./poll-claims.ts";

let bench: ClaimBench;
let at: ClaimProject;
beforeAll(async () => {
  bench = await openClaimBench();
});
afterAll(() => bench.close());
beforeEach(async () => {
  at = await bench.begin();
});

const flags = (flag: string) => `export const options = [{ flag: "${flag}" }, { flag: "--quiet" }];\n`;

async function checkedHealth(more: Partial<ClaimPollDeps> = {}, reader: Reader | null = null) {
  const siteDeps = {
    openReader: async () => reader,
    ...at.deps(more),
    siteCache: new Map<string, string>(),
    indexes: new Map(),
    siteHistory: async () => new Map(),
    linkFetch: () => Promise.reject(new Error("no links are requested")),
    openForge: async () => ({ gitRemote: async () => remote(at.docs) }) as unknown as Forge,
  };
  await checkSiteHealth(siteDeps, at.projectId, bench.mirrors.signal);
  const { checks, findings, problem } = await readSiteHealth(bench.pool, at.projectId);
  expect(problem).toBeNull();
  return { checks, findings: findings.filter(({ check }) => check !== "orphan-page") };
}

test("names that the code renamed or removed are found on their pages, with the change, until page or code has them right", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`, or `--quiet`.\n\nAgain: `--out-file`.\n" });
  at.code.commit({ "src/cli.ts": flags("--out-file") });
  expect((await checkedHealth()).findings).toEqual([]);
  const renamed = at.code.commit({ "src/cli.ts": flags("--output") });
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
  at.code.commit({ "src/cli.ts": `${flags("--output")}// More.\n` });
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--quiet`.\n\nAgain: `--out-file`.\n" });
  expect((await checkedHealth()).findings).toMatchObject([{ ...found, line: 5 }]);
  // It follows its page to a new name, even if the page was edited too.
  at.docs.commit({ "docs/run.md": null, "docs/use/run.md": "# Run\n\nUse `--quiet`.\n\nAgain, use `--out-file`.\n" });
  const moved = { ...found, path: "docs/use/run.md", line: 5 };
  expect((await checkedHealth()).findings).toMatchObject([moved]);
  expect((await checkedHealth()).findings).toMatchObject([moved]);
  at.docs.commit({ "docs/use/run.md": null, "docs/run.md": "# Run\n\nUse `--quiet`.\n\nAgain: `--out-file`.\n" });
  at.code.commit({ "src/cli.ts": flags("--out-file") });
  expect((await checkedHealth()).findings).toEqual([]);
  at.code.commit({ "src/cli.ts": "export const options = [];\n" });
  expect((await checkedHealth()).findings.map(({ line, message }) => [line, message])).toEqual([
    [3, "`--quiet` is no longer in the code (src/cli.ts had it). Correct the page."],
    [5, "`--out-file` is no longer in the code (src/cli.ts had it). Correct the page."],
  ]);
  at.docs.commit({ "docs/run.md": "# Run\n" });
  expect((await checkedHealth()).findings).toEqual([]);
});

test("a name that another package may have is a warning, and nothing renames it by itself", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nChoose `deepMode`.\n" });
  at.code.commit({ "src/mode.ts": 'type Mode = "deepMode";\n' });
  await checkedHealth();
  at.code.commit({ "src/mode.ts": 'type Mode = "deepWay";\n' });
  const { findings } = await checkedHealth();
  const message =
    "`deepMode` was renamed to `deepWay`. Another package may have it: change the page only if it means this one.";
  expect(findings).toMatchObject([{ check: "stale-reference", severity: "warning", message }]);
  expect(findings[0]).not.toHaveProperty("renamed");
  // It is kept while its page is of an earlier version.
  at.docs.commit({ "docs/v1/run.md": "# Run\n\nChoose `deepMode`.\n", "docs/run.md": null });
  expect((await checkedHealth()).findings).toHaveLength(1);
  at.docs.commit({ "docs/v2/run.md": "# Run\n" });
  expect((await checkedHealth()).findings).toEqual([]);
  at.docs.commit({ "docs/v2/run.md": null });
  expect((await checkedHealth()).findings).toMatchObject([{ path: "docs/v1/run.md" }]);
});

test("a new source is compared once with its state of some days ago", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`. It waits (`--wait`, default `30s`).\n" });
  const waits = (time: string) => `option("--wait", "how long", "${time}");\n`;
  at.code.commit({ "src/cli.ts": flags("--out-file"), "src/wait.ts": waits("30s") });
  at.code.commit({ "src/cli.ts": flags("--output"), "src/wait.ts": waits("60s") });
  const recentStart = createRecentStart({ git: bench.mirrors.git, dir: bench.mirrors.mirrorsDir });
  const found = async (start: typeof recentStart) =>
    (await checkedHealth({ recentStart: start } as object)).findings.map(({ check, line }) => [check, line]);
  // The commits of tests are old.
  const ofTwo: typeof recentStart = (input, signal) => recentStart({ ...input, days: 10_000, commitsMax: 2 }, signal);
  expect(await found(ofTwo)).toEqual([["stale-reference", 3]]);
  await at.look();
  expect(await at.only()).toMatchObject({ state: "changed", source: { path: "src/wait.ts" } });
  const never = () => Promise.reject(new Error("asked again"));
  expect((await found(never)).map(([check]) => check).sort()).toEqual(["changed-claim", "stale-reference"]);
  // With a model, the days are read in parts, within a limit of their own.
  await bench.pool.query("delete from reference_looks; delete from stale_references; delete from claims");
  const long = (time: string) => `${waits(time)}${"// long\n".repeat(1_100)}`;
  at.code.commit({ "src/wait.ts": waits("60s"), "src/a.ts": long("1s"), "src/b.ts": long("2s") });
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
  const { rows } = await bench.pool.query("select id from context_repositories where project_id = $1", [at.projectId]);
  const subject = backfillOf(rows[0].id);
  expect(await askedAbout(bench.pool, { projectId: at.projectId, subject }, backfillLimit)).toMatchObject({
    requests: expect.any(Number),
    requestsMax: backfillLimit.requestsMax,
  });
  // Where the history cannot be read, it begins with the newest commit.
  await bench.pool.query("delete from reference_looks; delete from stale_references; delete from claims");
  expect(await found(async () => null)).toEqual([]);
  expect(
    await recentStart({ remote: remote(at.code), branch: "nothing", days: 30, commitsMax: 200 }, bench.mirrors.signal),
  ).toBe(null);
});

test("a check that finds warnings and errors counts as errors", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nChoose `deepMode`.\n\nUse `--out-file`.\n" });
  at.code.commit({ "src/cli.ts": flags("--out-file"), "src/mode.ts": 'type Mode = "deepMode";\n' });
  await checkedHealth();
  at.code.commit({ "src/cli.ts": flags("--output"), "src/mode.ts": 'type Mode = "flat";\n' });
  const { checks, findings } = await checkedHealth();
  expect(findings.map(({ severity }) => severity)).toEqual(["error", "warning"]);
  expect(checks.at(-1)?.counts).toContainEqual({ check: "stale-reference", severity: "error", count: 2, fixable: 0 });
});

test("a claim is silenced where it stands, and a silencer that nothing needs is told", async () => {
  await at.add();
  await at.look();
  at.code.commit({ "src/net.ts": net.replace("30_000", "60_000") });
  at.docs.commit({
    "docs/timeouts.md": page.replace("A call", "<!-- emend-ignore changed-claim: on purpose -->\nA call"),
  });
  await at.look();
  expect(await at.only()).toMatchObject({ state: "changed", page: { line: 4 } });
  const { checks, findings } = await checkedHealth();
  expect(findings).toEqual([]);
  const last = { checkedAt: checks.at(-1)?.checkedAt, findings };
  expect(await listClaimsNow(bench.pool, at.projectId, last)).toEqual([]);
  expect(await listClaimsNow(bench.pool, at.projectId, { ...last, checkedAt: new Date(0) })).toHaveLength(1);
  at.code.commit({ "src/net.ts": net });
  await at.look();
  expect((await checkedHealth()).findings).toMatchObject([
    { check: "silencer", line: 3, message: "This comment silences no finding of `changed-claim`; remove it." },
  ]);
});

test("the project's settings silence claims and references, and a pattern that nothing needs is told", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`.\n" });
  at.code.commit({ "src/cli.ts": flags("--out-file") });
  await at.add();
  await at.look();
  await checkedHealth();
  const ignore = ["changed-claim", "stale-reference"].map((check) => ({ check, path: "docs/*", reason: "on purpose" }));
  await bench.pool.query("update projects set settings = $2 where id = $1", [at.projectId, { checks: { ignore } }]);
  const told = async () => (await checkedHealth()).findings.map(({ check, path, message }) => [check, path, message]);
  const unused = (check: string, at: number) => [
    "silencer",
    "project settings",
    `"checks.ignore" ${at} in the project's settings silences no finding of \`${check}\`; remove it.`,
  ];
  expect((await told()).sort()).toEqual([unused("changed-claim", 1), unused("stale-reference", 2)]);
  at.code.commit({ "src/cli.ts": flags("--output"), "src/net.ts": net.replace("30_000", "60_000") });
  await at.look();
  expect(await told()).toEqual([]);
  await bench.pool.query("update projects set settings = '{}' where id = $1", [at.projectId]);
  expect((await checkedHealth()).findings.map(({ check }) => check).sort()).toEqual([
    "changed-claim",
    "stale-reference",
  ]);
});

test("a force-push of the code is reported, and an unreadable source keeps its findings", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`.\n" });
  at.code.commit({ "src/cli.ts": flags("--out-file") });
  await checkedHealth();
  await bench.pool.query("update reference_looks set commit_id = $1", ["d".repeat(40)]);
  const { checks, findings } = await checkedHealth();
  expect(findings).toEqual([]);
  expect(checks.at(-1)?.sources[0]?.problem).toMatch(
    /^Commit dddddddddd is gone, .* Emend compares from [0-9a-f]{10} on\.$/,
  );
  at.code.commit({ "src/cli.ts": flags("--output") });
  expect((await checkedHealth()).findings).toHaveLength(1);
  const gone = { url: `${at.code.url}.none`, authorization: null };
  const unread = await checkedHealth({ contextRemote: async () => gone });
  expect(unread.findings).toHaveLength(1);
  expect(unread.checks.at(-1)?.sources).toEqual([
    { repository: "api", commit: null, problem: expect.stringMatching(/^The repository/) },
  ]);

  // Another source that cannot be read may have the name.
  await bench.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     values ('ctx_other', $1, 'other', 'github', 'https://github.test/acme/other')`,
    [at.projectId],
  );
  const unsure = await checkedHealth({
    async contextRemote(id) {
      if (id === "ctx_other") throw new AppError("repository_unavailable", { publicMessage: "Away." });
      return remote(at.code);
    },
  });
  expect(unsure.findings).toMatchObject([
    { severity: "warning", message: expect.stringMatching(/ Emend could not read other, which may have it\.$/) },
  ]);
});

test("a new commit of docs or code asks for a check of the site, once", async () => {
  const asked: string[] = [];
  const onMoved = async (id: string) => void asked.push(id);
  await at.look({ onMoved });
  await at.look({ onMoved });
  expect(asked).toEqual([at.projectId]);
  at.code.commit({ "src/cli.ts": flags("--output") });
  await at.look({ onMoved });
  expect(asked).toEqual([at.projectId, at.projectId]);
});

test("a default that a push changes is a changed claim of the page that shows it", async () => {
  const cli = (limit: number) => `p.add_argument("--retry-limit", default=${limit})\n`;
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--retry-limit` (default: 3).\n" });
  at.code.commit({ "src/cli.py": cli(3) });
  await at.look();
  await checkedHealth();
  at.code.commit({ "src/cli.py": cli(5) });
  await at.look();
  await checkedHealth();
  // The push made the claim due again.
  expect(await listDueClaims(bench.pool)).toEqual([at.projectId]);
  await at.look();
  expect(await at.only()).toMatchObject({
    state: "changed",
    page: { path: "docs/run.md", line: 3, text: "Use `--retry-limit` (default: 3)." },
    source: { path: "src/cli.py", text: cli(3).trim() },
    found: { text: cli(5).trim() },
  });
  expect((await checkedHealth()).findings).toMatchObject([{ check: "changed-claim", path: "docs/run.md", line: 3 }]);
});

test("a model that reads a push ends what is still right, and makes claims of what is outdated", async () => {
  at.docs.commit({ "docs/run.md": "# Run\n\nUse `--out-file`.\n" });
  at.code.commit({ "src/cli.ts": flags("--out-file") });
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
  await at.look();
  await checkedHealth({}, reader);
  at.code.commit({ "src/cli.ts": flags("--output"), "src/net.ts": net.replace("30_000", "60_000") });
  await at.look();
  expect((await checkedHealth({}, reader)).findings).toEqual([]);
  await at.look();
  expect(await at.only()).toMatchObject({
    state: "changed",
    page: { path: "docs/timeouts.md", line: 3 },
    found: { text: "  const timeoutMs = options.timeoutMs ?? 60_000;" },
  });
});
