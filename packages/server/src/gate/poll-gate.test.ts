// Over 500 lines in one file: all of these tests share one forge, its mirrors and two repositories, which take longer to
// set up than most of the tests take to run.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import type { CommitStatus, Forge } from "@emend/forges";
import { personGit, startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { createMirrors, type Mirrors } from "@emend/tree";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { listContextRepositories } from "../accounts/projects/context-repositories.ts";
import { getProject } from "../accounts/projects/projects.ts";
import { AppError } from "../errors.ts";
import { insertComment, listComments, listStatuses as listLocalStatuses } from "../forge/local/pull-requests.ts";
import { localProjectOf } from "../installation/forge-reach.ts";
import { getStatus, holdStatus, listPolls, listStatuses, saveSent, saveVerdict } from "./gate-store.ts";
import { isFixable, planDocsPull } from "./make-docs-pull.ts";
import { type GateDeps, pollGate } from "./poll-gate.ts";

const docs = "prj_docs";
let host: TestForge;
let mirrors: Mirrors;
let work: string;
let code: string;
let codeProject: string;

beforeAll(async () => {
  host = await startTestForge();
  mirrors = createMirrors({ dir: join(host.dir, "mirrors"), git: host.git, log: createLogger({ level: "silent" }) });
  work = join(host.dir, "docs");
  await commitAll(work, { "index.md": "# Home\n\n[Guide](guide.md)\n", "guide.md": "# Guide\n" });
  await host.addProject(docs, work);
  code = join(host.dir, "code");
  codeProject = "prj_code";
  await commitAll(code, { "src/cli.ts": cli("--out-file"), "src/mode.ts": 'type Mode = "deepMode" | "flat";\n' });
  await host.addProject(codeProject, code);
  await host.database.pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     select 'ctx_code', $1, 'code', 'local', repository_url from projects where id = $2`,
    [docs, codeProject],
  );
  await write(work, {
    "run.md": "# Run\n\nWrite to a file with `--out-file`.\n",
    "mode.md": "# Mode\n\nChoose `deepMode`.\n",
  });
  await push(docs, work, "main");
});

const cli = (flag: string) =>
  `export const options = [{ flag: "${flag}", words: "Where to write" }, { flag: "--watch" }];\n`;
afterAll(async () => {
  await mirrors.close();
  await host.close();
});
beforeEach(async () => {
  const { pool } = host.database;
  await pool.query("update local_pull_requests set state = 'closed'");
  await pool.query("delete from gate_statuses");
  await pool.query("delete from gate_looks");
  await pool.query("update projects set settings = '{}'");
});

async function commitAll(dir: string, files: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(dir, { recursive: true });
  await personGit(dir, "init", "--quiet", "--initial-branch=main");
  await write(dir, files);
}

async function write(dir: string, files: Readonly<Record<string, string>>): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  }
  await personGit(dir, "add", "--all");
  await personGit(dir, "commit", "--quiet", "--message=Change");
  return personGit(dir, "rev-parse", "HEAD");
}

/** Pushes a person's branch and opens a pull request. Returns the head commit. */
async function openPull(projectId: string, dir: string, branch: string, files: Readonly<Record<string, string>>) {
  await personGit(dir, "switch", "--quiet", "--force-create", branch, "main");
  const head = await write(dir, files);
  await push(projectId, dir, branch);
  const draft = { head: branch, base: "main", title: "A change", body: "", draft: false, checks: [] };
  const created = await host.open(projectId).createPullRequest(draft, host.signal);
  if (created.kind !== "created") throw new Error(created.kind);
  return { head, number: created.pullRequest.number };
}

async function push(projectId: string, dir: string, branch: string): Promise<void> {
  await personGit(dir, "push", "--quiet", "--force", join(host.forgeDir, `${projectId}.git`), branch);
}

function depsOf(more: Partial<GateDeps> = {}): GateDeps {
  const { pool } = host.database;
  return {
    pool,
    log: createLogger({ level: "silent" }),
    mirrors,
    siteCache: new Map<string, string>(),
    indexes: new Map(),
    makeDocsPull: async () => {},
    openReader: async () => null,
    publicUrl: () => "https://emend.test",
    findProject: (id) => getProject(pool, id),
    listContext: (projectId) => listContextRepositories(pool, projectId),
    contextRemote: async (id) => host.open(id === "ctx_code" ? codeProject : "prj_other").gitRemote(host.signal),
    openForge: async (project) => host.open(project.id),
    openContextForge: async ({ repositoryUrl }) => host.open(localProjectOf(repositoryUrl)),
    ...more,
  };
}

/** The local forge. Records each status, or refuses it. */
function listening(projectId: string, refuse?: () => AppError | null) {
  const told: CommitStatus[] = [];
  const forge = host.open(projectId);
  const openForge = async (): Promise<Forge> => ({
    ...forge,
    async setStatus(status, signal) {
      const refusal = refuse?.();
      if (refusal) throw refusal;
      told.push(status);
      return forge.setStatus(status, signal);
    },
  });
  return { told, openForge };
}

const look = (more: Partial<GateDeps> = {}) => pollGate(depsOf(more), docs, host.signal);
const set = (gate: object) =>
  host.database.pool.query("update projects set settings = $2 where id = $1", [docs, { gate }]);
const problemOf = async (contextId: string | null) =>
  (await listPolls(host.database.pool, docs)).find((one) => one.contextId === contextId)?.problem;
const onlyStatus = async () => {
  const found = await listStatuses(host.database.pool, docs);
  expect(found).toHaveLength(1);
  return found[0] as (typeof found)[number];
};

it("says what a person's pull request breaks, with each page and line, and passes once it is mended", async () => {
  await set({ docs: "failing" });
  const broken = await openPull(docs, work, "topic/break", { "index.md": "# Home\n\n[Guide](gone.md)\n" });
  await look();
  const failed = await onlyStatus();
  expect(failed).toMatchObject({
    head: broken.head,
    state: "failed",
    words: "1 new problem on 1 page.",
    findings: [{ check: "broken-link", severity: "error", path: "index.md", line: 3 }],
    refusal: null,
  });
  expect(await listLocalStatuses(host.database.pool, docs, broken.head)).toMatchObject([
    { name: "emend", state: "failed", url: `https://emend.test/app/gates/${failed.id}` },
  ]);
  const mended = await write(work, { "index.md": "# Home\n\n[The guide](guide.md)\n" });
  await push(docs, work, "topic/break");
  await look();
  expect(await listLocalStatuses(host.database.pool, docs, mended)).toMatchObject([{ state: "passed" }]);
});

it("does not block where the project says neutral, and says nothing where it says off", async () => {
  await openPull(docs, work, "topic/neutral", { "index.md": "[Guide](gone.md)\n" });
  await set({ docs: "off" });
  await look();
  expect(await listStatuses(host.database.pool, docs)).toEqual([]);
  await set({});
  await look();
  expect(await onlyStatus()).toMatchObject({ state: "neutral", words: "Not blocking: 1 new problem on 1 page." });
});

it("sets an unchanged status once, and again when the project's setting changes", async () => {
  await openPull(docs, work, "topic/once", { "index.md": "[Guide](gone.md)\n" });
  const far = listening(docs);
  for (let time = 0; time < 3; time += 1) await look(far);
  expect(far.told.map(({ state }) => state)).toEqual(["neutral"]);
  await set({ docs: "failing" });
  await look(far);
  expect(far.told.map(({ state }) => state)).toEqual(["neutral", "failed"]);
});

it("sends nothing once another node has taken the lease", async () => {
  await openPull(docs, work, "topic/overtaken", { "index.md": "[Guide](gone.md)\n" });
  const far = listening(docs);
  const { pool } = host.database;
  const query = async (sql: string, values?: unknown[]) => {
    if (sql.startsWith("update gate_statuses set state"))
      await pool.query("update gate_statuses set lease = gen_random_uuid()");
    return pool.query(sql, values);
  };
  await look({ ...far, pool: Object.create(pool, { query: { value: query } }) });
  expect(far.told).toEqual([]);
  expect((await onlyStatus()).findings).toEqual([]);
});

it("takes its settings from the base: a pull request cannot turn off the checks that judge it", async () => {
  await set({ docs: "failing" });
  await openPull(docs, work, "topic/settings", {
    "index.md": "[Guide](gone.md)\n",
    ".emend/check.json": '{"checks":{"broken-link":"off"}}',
  });
  await look();
  expect(await onlyStatus()).toMatchObject({ state: "failed" });
});

it("takes them from the newest commit of the branch that a pull request wants to change, not from where it began", async () => {
  await set({ docs: "failing" });
  const settings = async (files: Readonly<Record<string, string>>) => {
    await personGit(work, "switch", "--quiet", "main");
    await write(work, files);
    await push(docs, work, "main");
    await look();
    return (await onlyStatus()).findings.map(({ check, message }) => `${check} ${message}`);
  };
  const check = (checks: object) => ({ ".emend/check.json": JSON.stringify({ checks }) });
  // It begins where links are not checked, and brings words of its own.
  await personGit(work, "switch", "--quiet", "main");
  await write(work, check({ "broken-link": "off" }));
  await push(docs, work, "main");
  await openPull(docs, work, "topic/old", {
    "index.md": "# Home\n\n[Guide](gone.md) and a wrod.\n",
    ".emend/dictionary.txt": "wrod\n",
  });
  await look();
  expect((await onlyStatus()).state).toBe("passed");
  // While the repository is away, the verdict stays.
  const away = new AppError("repository_unavailable", { publicMessage: "Away.", retryable: true });
  await look({ mirrors: { ...mirrors, open: () => Promise.reject(away) } });
  expect([(await onlyStatus()).state, await problemOf(null)]).toEqual(["passed", "Away."]);
  expect(await settings(check({}))).toEqual([expect.stringMatching(/^broken-link /)]);
  expect(await settings(check({ "broken-link": "off", spelling: "error" }))).toEqual([
    expect.stringMatching(/^spelling .*wrod/),
  ]);
  expect(await settings({ ".emend/dictionary.txt": "wrod\n" })).toEqual([]);
  await settings({ ...check({}), ".emend/dictionary.txt": "\n" });
});

it("keeps the reason where the forge refuses a status, and tells it again later", async () => {
  await openPull(docs, work, "topic/refused", { "guide.md": "# A guide\n" });
  let refusal: AppError | null = new AppError("forge_rejected", { publicMessage: "The token may not set statuses." });
  const far = listening(docs, () => refusal);
  await look(far);
  expect(await onlyStatus()).toMatchObject({ state: "passed", sent: null, refusal: "The token may not set statuses." });
  expect(await problemOf(null)).toBe("The token may not set statuses.");
  refusal = null;
  await look(far);
  expect(await onlyStatus()).toMatchObject({ refusal: null });
  expect(far.told).toHaveLength(1);
  expect(await problemOf(null)).toBeNull();
});

it("lets its task be retried after a 502 on a status, instead of waiting for the next poll", async () => {
  await openPull(docs, work, "topic/bad-gateway", { "guide.md": "# A guide\n" });
  let answer: AppError | null = new AppError("forge_unavailable", { publicMessage: "502.", retryable: true });
  const far = listening(docs, () => answer);
  await expect(look(far)).rejects.toMatchObject({ publicMessage: "502." });
  answer = null;
  await look(far);
  expect(await onlyStatus()).toMatchObject({ state: "passed", refusal: null });
  expect(far.told).toHaveLength(1);
});

it("waits as long as a forge asks for", async () => {
  await openPull(docs, work, "topic/limited", { "guide.md": "# A guide\n" });
  let asked = 0;
  const limit = { publicMessage: "Too many requests.", retryable: true, retryAfterMs: 60_000, isRateLimit: true };
  const far = listening(docs, () => {
    asked += 1;
    return new AppError("forge_unavailable", limit);
  });
  // The task is kept, and tries again then.
  await expect(look(far)).rejects.toMatchObject({ retryAfterMs: 60_000 });
  await look(far);
  expect(asked).toBe(1);
  expect(await problemOf(null)).toBe("Too many requests.");
});

it("never reports success for a commit that it could not read", async () => {
  const { head } = await openPull(docs, work, "topic/vanished", { "guide.md": "# A guide\n" });
  const forge = host.open(docs);
  const gone = { ...forge, readPullRequestCommits: async () => ({ head: "1".repeat(40), base: head }) };
  await look({ openForge: async () => gone });
  expect(await onlyStatus()).toMatchObject({
    state: "pending",
    judgedFrom: null,
    words: expect.stringMatching(/^Not checked: /),
  });
  await host.database.pool.query("delete from gate_statuses");
  await look({ openForge: async () => ({ ...forge, readPullRequestCommits: async () => null }) });
  expect(await onlyStatus()).toMatchObject({ state: "pending", words: expect.stringContaining("has not checked") });
  // The obstacle is removed: the next check runs without a request.
  await look();
  expect(await onlyStatus()).toMatchObject({ state: "passed" });
});

it("has one status for a head and a name, however many projects and nodes report", async () => {
  await openPull(docs, work, "topic/shared", { "guide.md": "# A guide\n" });
  await Promise.all([look(), look(), look()]);
  const [status] = await listStatuses(host.database.pool, docs);
  if (!status) throw new Error("no status");
  const subject = { projectId: "prj_second", contextId: null, repository: "local prj_docs.git", name: "emend" };
  await host.addProject("prj_second");
  const [pull] = await host.open(docs).listOpenPullRequests(host.signal);
  if (!pull) throw new Error("no pull request");
  expect(await holdStatus(host.database.pool, subject, status.head, pull)).toBeNull();
  expect(await holdStatus(host.database.pool, { ...subject, name: "emend/second" }, status.head, pull)).not.toBeNull();
  expect(await listStatuses(host.database.pool, docs)).toHaveLength(1);
});

it("fences a slow node: it writes no verdict, and its status on the forge is set again", async () => {
  await openPull(docs, work, "topic/slow", { "guide.md": "# A guide\n" });
  await look();
  const { pool } = host.database;
  const status = await onlyStatus();
  const [pull] = await host.open(docs).listOpenPullRequests(host.signal);
  if (!pull) throw new Error("no pull request");
  const subject = { projectId: docs, contextId: null, repository: "local prj_docs.git", name: "emend" };
  const slow = await holdStatus(pool, subject, status.head, pull);
  const fast = await holdStatus(pool, subject, status.head, pull);
  if (!slow || !fast) throw new Error("not held");
  const verdict = { state: "failed", words: "Old.", findings: [], judgedFrom: "old" } as const;
  expect(await saveVerdict(pool, slow, verdict)).toBe(false);
  await saveSent(pool, fast, { sent: "passed New.", refusal: null });
  await saveSent(pool, slow, { sent: "failed Old.", refusal: null });
  expect(await getStatus(pool, status.id)).toMatchObject({ state: "passed", sent: null });
});

const rename = () => openPull(codeProject, code, "topic/rename", { "src/cli.ts": cli("--output-file") });

it("says on a source's pull request which pages name what it renames, and passes with the docs' pull request", async () => {
  await set({ sources: "failing", docs: "off" });
  const { pool } = host.database;
  const { head } = await rename();
  await look();
  const status = await onlyStatus();
  expect(status).toMatchObject({
    contextId: "ctx_code",
    state: "failed",
    words: "1 page mentions what this removes or renames.",
    findings: [
      {
        check: "stale-reference",
        path: "run.md",
        line: 3,
        message: "`--out-file` is renamed to `--output-file` in src/cli.ts",
        renamed: { from: "--out-file", to: "--output-file" },
      },
    ],
  });
  const stateOf = async () => (await listLocalStatuses(pool, codeProject, head))[0]?.state;
  expect(await stateOf()).toBe("failed");

  const mended = await openPull(docs, work, "emend/job", { "run.md": "# Run\n\nWrite with `--output-file`.\n" });
  const jobId = await seedJob(pool, docs);
  await pool.query("update jobs set branch = 'emend/job', pull_request = $2 where id = $1", [
    jobId,
    { number: mended.number, state: "open" },
  ]);
  await pool.query("update gate_statuses set job_id = $2 where id = $1", [status.id, jobId]);
  await look();
  expect(await onlyStatus()).toMatchObject({
    state: "passed",
    words: `Docs pull request #${mended.number} updates every page that names what this removes.`,
  });
  expect(await stateOf()).toBe("passed");

  // A new commit of the same pull request passes at once.
  const next = await write(code, { "src/more.ts": "export const more = 1;\n" });
  await push(codeProject, code, "topic/rename");
  const far = listening(codeProject);
  await look({ openContextForge: far.openForge });
  expect(far.told.map(({ commit, state }) => [commit, state])).toEqual([[next, "passed"]]);
  await personGit(code, "reset", "--quiet", "--hard", head);
  await push(codeProject, code, "topic/rename");

  // The docs pull request was closed without merging, so the pages are unchanged.
  await pool.query("update jobs set pull_request = $2 where id = $1", [
    jobId,
    { number: mended.number, state: "closed" },
  ]);
  await look();
  expect(await stateOf()).toBe("failed");
});

it("is silenced on a source's pull request by the docs' base, and not by the docs' pull request", async () => {
  await set({ sources: "failing", docs: "off" });
  const { pool } = host.database;
  const { head } = await rename();
  const docsWith = async (files: Record<string, string>) => {
    await personGit(work, "switch", "--quiet", "main");
    await write(work, files);
    await push(docs, work, "main");
    await look();
    return (await onlyStatus()).state;
  };
  const page = "# Run\n\nWrite to a file with `--out-file`.";
  const comment = "<!-- emend-ignore stale-reference: the old name still works -->";
  expect(await docsWith({ "run.md": `${page} ${comment}\n` })).toBe("passed");
  const ignore = [{ check: "stale-reference", path: "run.md", reason: "the old name still works" }];
  expect(await docsWith({ "run.md": `${page}\n`, ".emend/check.json": JSON.stringify({ ignore }) })).toBe("passed");
  expect(await docsWith({ ".emend/check.json": "{}" })).toBe("failed");
  const own = await openPull(docs, work, "emend/silent", { "run.md": `${page} ${comment}\n` });
  const jobId = await seedJob(pool, docs);
  const pullRequest = { number: own.number, state: "open" };
  await pool.query("update jobs set branch = 'emend/silent', pull_request = $2 where id = $1", [jobId, pullRequest]);
  await pool.query("update gate_statuses set job_id = $1", [jobId]);
  await look();
  expect(await onlyStatus()).toMatchObject({ head, state: "failed" });
});

it("is silenced by the project's settings, on pull requests of the docs and of a source, as soon as they say so", async () => {
  const gate = { sources: "failing", docs: "failing" };
  const { pool } = host.database;
  await host.database.pool.query("update projects set settings = $2 where id = $1", [docs, { gate }]);
  await rename();
  await openPull(docs, work, "topic/silenced", { "index.md": "# Home\n\n[Guide](gone.md)\n" });
  const statesWith = async (...ignore: readonly object[]) => {
    await pool.query("delete from tasks");
    const checks = { ignore };
    await pool.query("update projects set settings = $2 where id = $1", [docs, { gate, checks }]);
    const { rows } = await pool.query("select kind from tasks where subject = $1 order by kind", [docs]);
    await look();
    const states = (await listStatuses(pool, docs)).map(({ state, contextId }) => [contextId, state]);
    return { asked: rows.map(({ kind }) => kind), ...Object.fromEntries(states) };
  };
  const asked = ["check_site", "look_at_gate"];
  expect(await statesWith()).toEqual({ asked, null: "failed", ctx_code: "failed" });
  const link = { check: "broken-link", path: "*.md", reason: "the build creates it" };
  expect(await statesWith(link)).toEqual({ asked, null: "passed", ctx_code: "failed" });
  const flag = { check: "stale-reference", message: "--out-file", reason: "the old name works" };
  expect(await statesWith(link, flag)).toEqual({ asked, null: "passed", ctx_code: "passed" });
  expect(await statesWith()).toEqual({ asked, null: "failed", ctx_code: "failed" });
});

it("does not block for a name that another package may have, and can still fix the page", async () => {
  await set({ sources: "failing", docs: "off" });
  await openPull(codeProject, code, "topic/mode", { "src/mode.ts": 'type Mode = "deepWay" | "flat";\n' });
  await look();
  const { findings, ...status } = await onlyStatus();
  expect(status).toMatchObject({
    state: "neutral",
    words: "Not blocking: 1 page may mention what this removes or renames.",
  });
  const message =
    "`deepMode` is renamed to `deepWay` in src/mode.ts. Another package may have it: change the page only if it means this one";
  const place = { check: "stale-reference", severity: "warning", path: "mode.md", line: 3 };
  const type = (mode: string) => `type Mode = "${mode}" | "flat";`;
  const seen = { text: "Choose `deepMode`.", source: "src/mode.ts:1", was: type("deepMode"), now: type("deepWay") };
  const commit = expect.stringMatching(/^[0-9a-f]{40}$/);
  const shown = { ...seen, commit };
  expect(findings).toEqual([{ ...place, message, certainty: "likely", causes: ["src/mode.ts"], seen: shown }]);
  expect(findings.map(isFixable)).toEqual([true]);
});

it("does not report a name that another source of the project has, or may have", async () => {
  await set({ sources: "failing", docs: "off" });
  const { pool } = host.database;
  const other = join(host.dir, "other");
  await commitAll(other, { "src/run.ts": cli("--out-file") });
  await host.addProject("prj_other", other);
  await pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     select 'ctx_other', $1, 'other', 'local', repository_url from projects where id = 'prj_other'`,
    [docs],
  );
  try {
    await rename();
    await look();
    expect(await onlyStatus()).toMatchObject({ state: "passed", findings: [] });
    // Nobody knows what a source has that cannot be read. It is asked once, however many pull requests have this head.
    await pool.query("delete from gate_statuses");
    const away = new AppError("repository_unavailable", { publicMessage: "Away." });
    const forge = host.open(codeProject);
    const [pull] = await forge.listOpenPullRequests(host.signal);
    if (!pull) throw new Error("no pull request");
    let asked = 0;
    await look({
      contextRemote() {
        asked += 1;
        return Promise.reject(away);
      },
      openContextForge: async ({ id }) => ({
        ...forge,
        listOpenPullRequests: async () => (id === "ctx_code" ? [pull, { ...pull, number: pull.number + 1 }] : []),
        readPullRequestCommits: (_, signal) => forge.readPullRequestCommits(pull, signal),
      }),
    });
    expect(await onlyStatus()).toMatchObject({
      state: "neutral",
      words: "Not blocking: 1 page mentions what this removes or renames, but could not look at other.",
      findings: [{ severity: "warning", message: expect.stringContaining("Emend could not look at other") }],
    });
    expect(asked).toBe(1);
    // As soon as it can be read again, it counts.
    await look();
    expect(await onlyStatus()).toMatchObject({ state: "passed", findings: [] });
  } finally {
    await pool.query("delete from projects where id = 'prj_other'");
    await pool.query("delete from context_repositories where id = 'ctx_other'");
  }
});

it("covers every pull request of a head with one status, and looks again when one gets another base", async () => {
  await set({ docs: "failing" });
  await push(docs, work, "main:same");
  await personGit(work, "switch", "--quiet", "--force-create", "release", "main");
  await write(work, { "gone.md": "# Gone\n" });
  await push(docs, work, "release");
  const { head } = await openPull(docs, work, "topic/both", { "index.md": "# Home\n\n[Guide](gone.md)\n" });
  const forge = host.open(docs);
  const [pull] = await forge.listOpenPullRequests(host.signal);
  if (!pull) throw new Error("no pull request");
  const release = await personGit(work, "rev-parse", "release");
  const bases: Record<string, string> = { main: await personGit(work, "rev-parse", "main"), release };
  // On this branch, the head itself is the base: nothing is new.
  bases.same = head;
  const far = listening(docs);
  const at = (...names: string[]) =>
    look({
      openForge: async () => ({
        ...(await far.openForge()),
        listOpenPullRequests: async () => names.map((base, index) => ({ ...pull, base, number: index + 1 })),
        readPullRequestCommits: async ({ base }) => ({ head, base: bases[base] ?? "" }),
      }),
    });
  await at("same");
  await at("same", "main");
  await at("main", "same");
  await at("same");
  expect(far.told.map(({ state }) => state)).toEqual(["passed", "failed", "passed"]);
  expect(await onlyStatus()).toMatchObject({ head });
});

it("continues after a refused status, and explains why a fork on a separate forge has none", async () => {
  await openPull(docs, work, "topic/last", { "guide.md": "# A guide\n" });
  const forge = host.open(docs);
  const [pull] = await forge.listOpenPullRequests(host.signal);
  if (!pull) throw new Error("no pull request");
  const others = [1, 2, 3, 4].map((digit) => ({ ...pull, number: 90 + digit, headCommit: String(digit).repeat(40) }));
  const told: string[] = [];
  const openForge = async (): Promise<Forge> => ({
    ...forge,
    listOpenPullRequests: async () => [...others, pull],
    readPullRequestCommits: async (one, signal) => (one.number > 90 ? null : forge.readPullRequestCommits(one, signal)),
    async setStatus({ commit }) {
      told.push(commit);
      if (commit !== pull.headCommit) throw new AppError("forge_rejected", { publicMessage: "No such commit." });
      return null;
    },
  });
  await look({ openForge });
  expect(told).not.toContain(pull.headCommit);
  await look({ openForge });
  expect(told).toContain(pull.headCommit);
  told.length = 0;
  const isFork = async (): Promise<Forge> => ({
    ...(await openForge()),
    listOpenPullRequests: async () => others.map((one) => ({ ...one, isFork: true })),
    forkLimit: "The branch is in a fork.",
  });
  await look({ openForge: isFork });
  expect(told).toEqual([]);
  const found = (await listStatuses(host.database.pool, docs)).filter(({ number }) => number > 90);
  expect(found.map(({ state, words }) => `${state} ${words}`)).toEqual(
    others.map(() => "pending Not checked: The branch is in a fork."),
  );
  expect(await problemOf(null)).toBeNull();
});

it("sets a status at every check where pipelines replace each other, and says why a pull request shows none", async () => {
  await openPull(docs, work, "topic/piped", { "guide.md": "# A guide\n" });
  const forge = host.open(docs);
  let hidden: string | null = "There is no place for it.";
  const told: CommitStatus[] = [];
  const openForge = async (): Promise<Forge> => ({
    ...forge,
    movesStatuses: true,
    async setStatus(status) {
      told.push(status);
      if (hidden === "refused") throw new AppError("forge_rejected", { publicMessage: "Refused." });
      if (hidden === "busy") throw new AppError("forge_rejected", { publicMessage: "Busy.", retryable: true });
      return hidden;
    },
  });
  for (let time = 1; time <= 2; time += 1) {
    await look({ openForge });
    expect(told).toHaveLength(time);
    expect(await onlyStatus()).toMatchObject({ refusal: hidden, sent: expect.any(String) });
    expect(await problemOf(null)).toBeNull();
  }
  const { updatedAt } = await onlyStatus();
  hidden = "refused";
  await look({ openForge });
  expect([await problemOf(null), (await onlyStatus()).updatedAt]).toEqual(["Refused.", updatedAt]);
  // GitLab answers 409 while another request changes the same pipeline: the task is retried.
  hidden = "busy";
  await expect(look({ openForge })).rejects.toMatchObject({ publicMessage: "Busy." });
  hidden = null;
  await look({ openForge });
  expect(await onlyStatus()).toMatchObject({ refusal: null });
  expect(told.at(-1)).toEqual(told[0]);
});

it("sees what code beside the docs renames in one repository", async () => {
  const mono = "prj_mono";
  const dir = join(host.dir, "mono");
  await commitAll(dir, { "src/cli.ts": cli("--out-file"), "docs/run.md": "# Run\n\n`--out-file`\n" });
  await host.addProject(mono, dir);
  await host.database.pool.query("update projects set docs_dir = 'docs' where id = $1", [mono]);
  await openPull(mono, dir, "topic/mono", { "src/cli.ts": cli("--output-file") });
  await pollGate(depsOf(), mono, host.signal);
  expect(await listStatuses(host.database.pool, mono)).toMatchObject([
    { state: "neutral", findings: [{ check: "stale-reference", path: "docs/run.md", line: 3 }] },
  ]);
});

it("says which claims a source's pull request changes or removes, and which operations that pages name", async () => {
  await set({ sources: "failing", docs: "off" });
  const { pool } = host.database;
  const api = (method: string) =>
    `openapi: 3.1.0\npaths:\n  /v2/jobs/{id}:\n    ${method}:\n      responses: {"200": {description: OK}}\n`;
  await personGit(code, "switch", "--quiet", "main");
  await write(code, { "openapi.yaml": api("get"), "src/net.ts": "export const limit = 30;\n" });
  await push(codeProject, code, "main");
  await personGit(work, "switch", "--quiet", "main");
  await write(work, { "api.md": "# API\n\nA call ends after 30 s.\n\nCall `GET /v2/jobs/{id}`.\n" });
  await push(docs, work, "main");
  await pool.query(
    `insert into claims (project_id, page, page_line, page_line_end, page_text, repository_id, path, line, line_end, text, hash, state, created_by)
     values ($1, 'api.md', 3, 3, 'A call ends after 30 s.', 'ctx_code', 'src/net.ts', 1, 1, 'export const limit = 30;', '\\x00', 'same', 'test')`,
    [docs],
  );
  const { number } = await openPull(codeProject, code, "topic/claims", { "src/net.ts": "export const limit = 60;\n" });
  await look();
  const claim = { path: "api.md", line: 3, causes: ["src/net.ts"] };
  expect(await onlyStatus()).toMatchObject({
    state: "neutral",
    words: "Not blocking: 1 page relies on code that this changes.",
    findings: [
      {
        ...claim,
        check: "changed-claim",
        severity: "warning",
        claim: {
          text: "A call ends after 30 s.",
          source: "src/net.ts:1",
          was: "export const limit = 30;",
          now: "export const limit = 60;",
        },
      },
    ],
  });
  // Though nothing blocks, a comment can ask for the docs pull request. Its job gets both texts.
  await insertComment(pool, { projectId: codeProject, number, author: "console", body: "@emend" });
  const asked: unknown[] = [];
  const makeDocsPull: GateDeps["makeDocsPull"] = async ({ id, createdBy }) => {
    const status = await getStatus(pool, id);
    asked.push(createdBy, status && planDocsPull(status, "vendor/model"));
  };
  await look({ makeDocsPull });
  const prompt = expect.stringMatching(/api\.md:3 relies on src\/net\.ts:1[\s\S]*limit = 30;[\s\S]*limit = 60;/);
  expect(asked).toEqual(["comment/console", { kind: "possible", prompt, baseRef: null }]);
  // A credential in the new lines is not kept.
  const key = `ghp_${"a1B2".repeat(9)}`;
  await write(code, { "src/net.ts": `export const limit = "${key}";\n` });
  await push(codeProject, code, "topic/claims");
  await look();
  const [leaked] = await listStatuses(pool, docs);
  expect(leaked?.findings).toMatchObject([{ check: "gone-claim", claim: { now: null } }]);
  expect(JSON.stringify(leaked)).not.toContain(key);
  await write(code, { "src/net.ts": "// Nothing is left.\n", "openapi.yaml": api("post") });
  await push(codeProject, code, "topic/claims");
  await look();
  const [newest] = await listStatuses(pool, docs);
  expect(newest).toMatchObject({
    state: "failed",
    findings: expect.arrayContaining([
      expect.objectContaining({ ...claim, check: "gone-claim", severity: "error" }),
      expect.objectContaining({ check: "api-mismatch", severity: "error", path: "api.md", line: 5 }),
    ]),
  });
  // Without the claim, the same commit is judged anew.
  await pool.query("delete from claims");
  await look();
  expect((await listStatuses(pool, docs))[0]?.findings.map(({ check }) => check)).not.toContain("gone-claim");
});

it("says nothing of claims that the base broke, nor of those whose text is no longer in the docs", async () => {
  await set({ sources: "failing", docs: "off" });
  const { pool } = host.database;
  await personGit(code, "switch", "--quiet", "main");
  await write(code, { "src/net.ts": "export const limit = 60;\n\nexport const tries = 3;\n" });
  await push(codeProject, code, "main");
  await personGit(work, "switch", "--quiet", "main");
  await write(work, { "api.md": "# API\n\nA call ends after 30 s.\n\nA call is tried 4 times.\n" });
  await push(docs, work, "main");
  await pool.query(
    `insert into claims (project_id, page, page_line, page_line_end, page_text, repository_id, path, line, line_end, text, hash, state, created_by)
     values ($1, 'api.md', 3, 3, 'A call ends after 30 s.', 'ctx_code', 'src/net.ts', 1, 1, 'export const limit = 30;', '\\x00', 'changed', 'test'),
       ($1, 'api.md', 5, 5, 'A call is tried 3 times.', 'ctx_code', 'src/net.ts', 3, 3, 'export const tries = 3;', '\\x00', 'same', 'test')`,
    [docs],
  );
  await openPull(codeProject, code, "topic/later", {
    "src/net.ts": "export const limit = 90;\n\nexport const tries = 5;\n",
  });
  await look();
  expect(await onlyStatus()).toMatchObject({ state: "passed", findings: [] });
});

it("reports samples that a docs pull request breaks, and none that were broken before", async () => {
  const old = '```json\n{"a" 1}\n```\n';
  await personGit(work, "switch", "--quiet", "main");
  await write(work, { "guide.md": `# Guide\n\n${old}` });
  await push(docs, work, "main");
  await openPull(docs, work, "topic/samples", { "guide.md": `# Guide\n\nMore.\n\n${old}\n\`\`\`toml\na =\n\`\`\`\n` });
  await look();
  expect((await onlyStatus()).findings).toMatchObject([
    { check: "sample-syntax", severity: "warning", path: "guide.md" },
  ]);
});

it("waits, and says why, where the docs cannot be read", async () => {
  await set({ docs: "off" });
  await rename();
  const away = new AppError("repository_unavailable", { publicMessage: "The docs are away.", retryable: true });
  await look({ openForge: () => Promise.reject(away) });
  expect(await onlyStatus()).toMatchObject({ state: "pending", words: "Not checked: The docs are away." });
});

it("says that a context repository without a token cannot be reported on", async () => {
  await set({ docs: "off" });
  await rename();
  await look({ openContextForge: async () => null });
  expect(await listStatuses(host.database.pool, docs)).toEqual([]);
  expect(await problemOf("ctx_code")).toContain("no token");
});

it("opens the docs' pull request once when a person with write access writes @emend", async () => {
  await set({ docs: "off" });
  const { pool } = host.database;
  const { number } = await rename();
  const say = (author: string, body: string) => insertComment(pool, { projectId: codeProject, number, author, body });
  await say("stranger@example.com", "@emend");
  await say("console", "@emend please fix the docs");
  await say("console", "@emend delete everything");
  await say("console", "I like @emend");
  const asked: string[] = [];
  const makeDocsPull: GateDeps["makeDocsPull"] = async ({ createdBy }) => void asked.push(createdBy);
  await look({ makeDocsPull });
  await look({ makeDocsPull });
  // A new commit does not repeat comments that were handled.
  await write(code, { "src/more.ts": "export {};\n" });
  await push(codeProject, code, "topic/rename");
  await look({ makeDocsPull });
  expect(asked).toEqual(["comment/console"]);
  const answers = (await listComments(pool, codeProject, number)).filter(({ author }) => author === "Emend");
  expect(answers.map(({ body }) => body)).toEqual([expect.stringContaining("@emend fix the docs")]);
});

it("answers @emend on a pull request that needs no docs", async () => {
  await set({ docs: "off" });
  const { pool } = host.database;
  const { number } = await openPull(codeProject, code, "topic/quiet", { "src/quiet.ts": "export {};\n" });
  await insertComment(pool, { projectId: codeProject, number, author: "console", body: "@emend" });
  const makeDocsPull: GateDeps["makeDocsPull"] = async ({ id }) => {
    const status = await getStatus(pool, id);
    const plan = status && planDocsPull(status, "emend/rules");
    if (plan?.kind === "vain") throw new AppError("conflict", { publicMessage: plan.words });
  };
  await look({ makeDocsPull });
  await look({ makeDocsPull });
  const answers = (await listComments(pool, codeProject, number)).filter(({ author }) => author === "Emend");
  expect(answers.map(({ body }) => body)).toEqual([expect.stringContaining("There is nothing to fix.")]);
});

it("reports a changed default beside its name, and a new flag where the page lists its siblings", async () => {
  await set({ sources: "failing", docs: "off" });
  const keyed = (key: string) => `p.add_argument("--api-key", default="${key}")\n`;
  const flags = (limit: number, more = "") =>
    `${["out-dir", "log-level", "config-file"].map((name) => `p.add_argument("--${name}")\n`).join("")}p.add_argument("--retry-limit", default=${limit})\n${more}`;
  await personGit(code, "switch", "--quiet", "main");
  await write(code, { "src/flags.py": flags(3), "src/key.py": keyed("dev-key") });
  await push(codeProject, code, "main");
  await personGit(work, "switch", "--quiet", "main");
  await write(work, {
    "flags.md": "# Flags\n\n- `--out-dir`\n- `--log-level`\n- `--config-file`\n- `--retry-limit` (default: 3)\n",
    "key.md": "# Key\n\n`--api-key` (default: `dev-key`)\n",
  });
  await push(docs, work, "main");
  // A credential that the change adds is not copied into the status.
  const credential = `ghp_${"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"}`;
  await openPull(codeProject, code, "topic/facts", {
    "src/flags.py": flags(5, 'p.add_argument("--no-cache")\n'),
    "src/key.py": keyed(credential),
  });
  await look();
  const status = await onlyStatus();
  expect(status).toMatchObject({ state: "failed", words: "1 page mentions what this changes." });
  const was = 'p.add_argument("--retry-limit", default=3)';
  expect(status.findings).toMatchObject([
    {
      ...{ check: "stale-fact", severity: "error", path: "flags.md", line: 6 },
      message: "`--retry-limit` has the default `5` now, not `3` (`src/flags.py:4`)",
      claim: { source: "src/flags.py:4", was, now: was.replace("3", "5") },
    },
    {
      ...{ check: "missing-text", severity: "warning", path: "flags.md" },
      message: "`--no-cache` is new, and this page lists others of its kind (`src/flags.py:5`)",
    },
  ]);
  // A job with a model gets the page's text and the code; the built-in rules cannot do it.
  expect(planDocsPull(status, "vendor/model")).toMatchObject({ prompt: expect.stringContaining("default=5") });
  expect(planDocsPull(status, "emend/rules")).toMatchObject({ kind: "vain" });
});

it("replaces a default without a model where the page has the old value once, and tells a renamed flag once", async () => {
  await set({ sources: "failing", docs: "off" });
  const flags = (time: string, to: string) =>
    `${["--out-dir", "--log-level", "--config-file", to].map((name) => `p.add_argument("${name}")\n`).join("")}p.add_argument("--wait", default="${time}")\n`;
  await personGit(code, "switch", "--quiet", "main");
  await write(code, { "src/wait.py": flags("30s", "--send-to") });
  await push(codeProject, code, "main");
  await personGit(work, "switch", "--quiet", "main");
  const page = "# Flags\n\n`--out-dir`, `--log-level`, `--config-file`, `--send-to`\n\n- `--wait` (default: `30s`)\n";
  const planWith = async (text: string, branch: string) => {
    await personGit(work, "switch", "--quiet", "main");
    await write(work, { "wait.md": text });
    await push(docs, work, "main");
    await openPull(codeProject, code, branch, {
      "src/wait.py": flags("60s", "--send-all-to"),
      // Otherwise both branches may have the very same commit, and one status.
      [`${branch}.txt`]: branch,
    });
    await look();
    const status = (await listStatuses(host.database.pool, docs)).find(({ pull }) => pull.head === branch);
    if (!status) throw new Error("no status");
    expect(status.findings.map(({ check }) => check)).not.toContain("missing-text");
    const plan = planDocsPull(status, "emend/rules");
    return plan.kind === "possible" ? plan.prompt : plan.words;
  };
  expect(await planWith(page, "topic/once")).toContain('In wait, replace "30s" with "60s", also in code.');
  expect(await planWith(`${page}\nIt stops after 30s.\n`, "topic/twice")).not.toContain("30s");
});
