import { join } from "node:path";
import { personGit } from "@emend/testkit/forge.ts";
import { cli, codeProject, docs, type GateBench, openGateBench } from "@emend/testkit/gate-bench.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { AppError } from "../errors.ts";
import { insertComment, listComments, listStatuses as listLocalStatuses } from "../forge/local/pull-requests.ts";
import { getStatus, listStatuses } from "./gate-store.ts";
import type { GateDeps } from "./poll-gate.ts";
import { isFixable, planDocsPull } from "./start-docs-job.ts";

let bench: GateBench;
beforeAll(async () => {
  bench = await openGateBench();
});
afterAll(() => bench.close());
beforeEach(() => bench.reset());

it("says on a source's pull request which pages name what it renames, and passes with the docs' pull request", async () => {
  await bench.set({ sources: "failing", docs: "off" });
  const { pool } = bench.host.database;
  const { head } = await bench.rename();
  await bench.look();
  const status = await bench.onlyStatus();
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

  const mended = await bench.openPull(docs, bench.work, "emend/job", {
    "run.md": "# Run\n\nWrite with `--output-file`.\n",
  });
  const jobId = await seedJob(pool, docs);
  await pool.query("update jobs set branch = 'emend/job', pull_request = $2 where id = $1", [
    jobId,
    { number: mended.number, state: "open" },
  ]);
  await pool.query("update gate_statuses set job_id = $2 where id = $1", [status.id, jobId]);
  await bench.look();
  expect(await bench.onlyStatus()).toMatchObject({
    state: "passed",
    words: `Docs pull request #${mended.number} updates every page that names what this removes.`,
  });
  expect(await stateOf()).toBe("passed");

  // A new commit of the same pull request passes at once.
  const next = await bench.write(bench.code, { "src/more.ts": "export const more = 1;\n" });
  await bench.push(codeProject, bench.code, "topic/rename");
  const far = bench.listening(codeProject);
  await bench.look({ openContextForge: far.openForge });
  expect(far.told.map(({ commit, state }) => [commit, state])).toEqual([[next, "passed"]]);
  await personGit(bench.code, "reset", "--quiet", "--hard", head);
  await bench.push(codeProject, bench.code, "topic/rename");

  // The docs pull request was closed without merging, so the pages are unchanged.
  await pool.query("update jobs set pull_request = $2 where id = $1", [
    jobId,
    { number: mended.number, state: "closed" },
  ]);
  await bench.look();
  expect(await stateOf()).toBe("failed");

  await pool.query("update jobs set pull_request = null, status = 'failed' where id = $1", [jobId]);
  await bench.look();
  const [told] = await listLocalStatuses(pool, codeProject, head);
  expect(told).toMatchObject({
    state: "failed",
    words: "1 page mentions what this removes or renames. The job that fixes the docs failed.",
  });
});

it("is silenced on a source's pull request by the docs' base, and not by the docs' pull request", async () => {
  await bench.set({ sources: "failing", docs: "off" });
  const { pool } = bench.host.database;
  const { head } = await bench.rename();
  const docsWith = async (files: Record<string, string>) => {
    await personGit(bench.work, "switch", "--quiet", "main");
    await bench.write(bench.work, files);
    await bench.push(docs, bench.work, "main");
    await bench.look();
    return (await bench.onlyStatus()).state;
  };
  const page = "# Run\n\nWrite to a file with `--out-file`.";
  const comment = "<!-- emend-ignore stale-reference: the old name still works -->";
  expect(await docsWith({ "run.md": `${page} ${comment}\n` })).toBe("passed");
  const ignore = [{ check: "stale-reference", path: "run.md", reason: "the old name still works" }];
  expect(await docsWith({ "run.md": `${page}\n`, ".emend/check.json": JSON.stringify({ ignore }) })).toBe("passed");
  expect(await docsWith({ ".emend/check.json": "{}" })).toBe("failed");
  const own = await bench.openPull(docs, bench.work, "emend/silent", { "run.md": `${page} ${comment}\n` });
  const jobId = await seedJob(pool, docs);
  const pullRequest = { number: own.number, state: "open" };
  await pool.query("update jobs set branch = 'emend/silent', pull_request = $2 where id = $1", [jobId, pullRequest]);
  await pool.query("update gate_statuses set job_id = $1", [jobId]);
  await bench.look();
  expect(await bench.onlyStatus()).toMatchObject({ head, state: "failed" });
});

it("is silenced by the project's settings, on pull requests of the docs and of a source, as soon as they say so", async () => {
  const gate = { sources: "failing", docs: "failing" };
  const { pool } = bench.host.database;
  await bench.host.database.pool.query("update projects set settings = $2 where id = $1", [docs, { gate }]);
  await bench.rename();
  await bench.openPull(docs, bench.work, "topic/silenced", { "index.md": "# Home\n\n[Guide](gone.md)\n" });
  const statesWith = async (...ignore: readonly object[]) => {
    await pool.query("delete from tasks");
    const checks = { ignore };
    await pool.query("update projects set settings = $2 where id = $1", [docs, { gate, checks }]);
    const { rows } = await pool.query("select kind from tasks where subject = $1 order by kind", [docs]);
    await bench.look();
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
  await bench.set({ sources: "failing", docs: "off" });
  await bench.openPull(codeProject, bench.code, "topic/mode", { "src/mode.ts": 'type Mode = "deepWay" | "flat";\n' });
  await bench.look();
  const { findings, ...status } = await bench.onlyStatus();
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
  await bench.set({ sources: "failing", docs: "off" });
  const { pool } = bench.host.database;
  const other = join(bench.host.dir, "other");
  await bench.commitAll(other, { "src/run.ts": cli("--out-file") });
  await bench.host.addProject("prj_other", other);
  await pool.query(
    `insert into context_repositories (id, project_id, name, forge, repository_url)
     select 'ctx_other', $1, 'other', 'local', repository_url from projects where id = 'prj_other'`,
    [docs],
  );
  try {
    await bench.rename();
    await bench.look();
    expect(await bench.onlyStatus()).toMatchObject({ state: "passed", findings: [] });
    // Nobody knows what a source has that cannot be read. It is asked once, however many pull requests have this head.
    await pool.query("delete from gate_statuses");
    const away = new AppError("repository_unavailable", { publicMessage: "Away." });
    const forge = bench.host.open(codeProject);
    const [pull] = await forge.listOpenPullRequests(bench.host.signal);
    if (!pull) throw new Error("no pull request");
    let asked = 0;
    await bench.look({
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
    expect(await bench.onlyStatus()).toMatchObject({
      state: "neutral",
      words: "Not blocking: 1 page mentions what this removes or renames, but could not look at other.",
      findings: [{ severity: "warning", message: expect.stringContaining("Emend could not look at other") }],
    });
    expect(asked).toBe(1);
    // As soon as it can be read again, it counts.
    await bench.look();
    expect(await bench.onlyStatus()).toMatchObject({ state: "passed", findings: [] });
  } finally {
    await pool.query("delete from projects where id = 'prj_other'");
    await pool.query("delete from context_repositories where id = 'ctx_other'");
  }
});

it("says which claims a source's pull request changes or removes, and which operations that pages name", async () => {
  await bench.set({ sources: "failing", docs: "off" });
  const { pool } = bench.host.database;
  const api = (method: string) =>
    `openapi: 3.1.0\npaths:\n  /v2/jobs/{id}:\n    ${method}:\n      responses: {"200": {description: OK}}\n`;
  await personGit(bench.code, "switch", "--quiet", "main");
  await bench.write(bench.code, { "openapi.yaml": api("get"), "src/net.ts": "export const limit = 30;\n" });
  await bench.push(codeProject, bench.code, "main");
  await personGit(bench.work, "switch", "--quiet", "main");
  await bench.write(bench.work, { "api.md": "# API\n\nA call ends after 30 s.\n\nCall `GET /v2/jobs/{id}`.\n" });
  await bench.push(docs, bench.work, "main");
  await pool.query(
    `insert into claims (project_id, page, page_line, page_line_end, page_text, repository_id, path, line, line_end, text, hash, state, created_by)
     values ($1, 'api.md', 3, 3, 'A call ends after 30 s.', 'ctx_code', 'src/net.ts', 1, 1, 'export const limit = 30;', '\\x00', 'same', 'test')`,
    [docs],
  );
  const { number } = await bench.openPull(codeProject, bench.code, "topic/claims", {
    "src/net.ts": "export const limit = 60;\n",
  });
  await bench.look();
  const claim = { path: "api.md", line: 3, causes: ["src/net.ts"] };
  expect(await bench.onlyStatus()).toMatchObject({
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
  const startDocsJob: GateDeps["startDocsJob"] = async ({ id, createdBy }) => {
    const status = await getStatus(pool, id);
    asked.push(createdBy, status && planDocsPull(status, "vendor/model"));
  };
  await bench.look({ startDocsJob });
  const prompt = expect.stringMatching(/api\.md:3 relies on src\/net\.ts:1[\s\S]*limit = 30;[\s\S]*limit = 60;/);
  expect(asked).toEqual(["comment/console", { kind: "possible", prompt, baseRef: null }]);
  // A credential in the new lines is not kept.
  const key = `ghp_${"a1B2".repeat(9)}`;
  await bench.write(bench.code, { "src/net.ts": `export const limit = "${key}";\n` });
  await bench.push(codeProject, bench.code, "topic/claims");
  await bench.look();
  const [leaked] = await listStatuses(pool, docs);
  expect(leaked?.findings).toMatchObject([{ check: "gone-claim", claim: { now: null } }]);
  expect(JSON.stringify(leaked)).not.toContain(key);
  await bench.write(bench.code, { "src/net.ts": "// Nothing is left.\n", "openapi.yaml": api("post") });
  await bench.push(codeProject, bench.code, "topic/claims");
  await bench.look();
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
  await bench.look();
  expect((await listStatuses(pool, docs))[0]?.findings.map(({ check }) => check)).not.toContain("gone-claim");
});

it("says nothing of claims that the base broke, nor of those whose text is no longer in the docs", async () => {
  await bench.set({ sources: "failing", docs: "off" });
  const { pool } = bench.host.database;
  await personGit(bench.code, "switch", "--quiet", "main");
  await bench.write(bench.code, { "src/net.ts": "export const limit = 60;\n\nexport const tries = 3;\n" });
  await bench.push(codeProject, bench.code, "main");
  await personGit(bench.work, "switch", "--quiet", "main");
  await bench.write(bench.work, { "api.md": "# API\n\nA call ends after 30 s.\n\nA call is tried 4 times.\n" });
  await bench.push(docs, bench.work, "main");
  await pool.query(
    `insert into claims (project_id, page, page_line, page_line_end, page_text, repository_id, path, line, line_end, text, hash, state, created_by)
     values ($1, 'api.md', 3, 3, 'A call ends after 30 s.', 'ctx_code', 'src/net.ts', 1, 1, 'export const limit = 30;', '\\x00', 'changed', 'test'),
       ($1, 'api.md', 5, 5, 'A call is tried 3 times.', 'ctx_code', 'src/net.ts', 3, 3, 'export const tries = 3;', '\\x00', 'same', 'test')`,
    [docs],
  );
  await bench.openPull(codeProject, bench.code, "topic/later", {
    "src/net.ts": "export const limit = 90;\n\nexport const tries = 5;\n",
  });
  await bench.look();
  expect(await bench.onlyStatus()).toMatchObject({ state: "passed", findings: [] });
});

it("waits, and says why, where the docs cannot be read", async () => {
  await bench.set({ docs: "off" });
  await bench.rename();
  const away = new AppError("repository_unavailable", { publicMessage: "The docs are away.", retryable: true });
  await bench.look({ openForge: () => Promise.reject(away) });
  expect(await bench.onlyStatus()).toMatchObject({ state: "pending", words: "Not checked: The docs are away." });
});

it("says that a context repository without a token cannot be reported on", async () => {
  await bench.set({ docs: "off" });
  await bench.rename();
  await bench.look({ openContextForge: async () => null });
  expect(await listStatuses(bench.host.database.pool, docs)).toEqual([]);
  expect(await bench.problemOf("ctx_code")).toContain("no token");
});

it("opens the docs' pull request once when a person with write access writes @emend", async () => {
  await bench.set({ docs: "off" });
  const { pool } = bench.host.database;
  const { number } = await bench.rename();
  const say = (author: string, body: string) => insertComment(pool, { projectId: codeProject, number, author, body });
  await say("stranger@example.com", "@emend");
  await say("console", "@emend please fix the docs");
  await say("console", "@emend delete everything");
  await say("console", "I like @emend");
  const asked: string[] = [];
  const startDocsJob: GateDeps["startDocsJob"] = async ({ createdBy }) => void asked.push(createdBy);
  await bench.look({ startDocsJob });
  await bench.look({ startDocsJob });
  // A new commit does not repeat comments that were handled.
  await bench.write(bench.code, { "src/more.ts": "export {};\n" });
  await bench.push(codeProject, bench.code, "topic/rename");
  await bench.look({ startDocsJob });
  expect(asked).toEqual(["comment/console"]);
  const answers = (await listComments(pool, codeProject, number)).filter(({ author }) => author === "Emend");
  expect(answers.map(({ body }) => body)).toEqual([expect.stringContaining("@emend fix the docs")]);
});

it("answers @emend on a pull request that needs no docs", async () => {
  await bench.set({ docs: "off" });
  const { pool } = bench.host.database;
  const { number } = await bench.openPull(codeProject, bench.code, "topic/quiet", { "src/quiet.ts": "export {};\n" });
  await insertComment(pool, { projectId: codeProject, number, author: "console", body: "@emend" });
  const startDocsJob: GateDeps["startDocsJob"] = async ({ id }) => {
    const status = await getStatus(pool, id);
    const plan = status && planDocsPull(status, "emend/rules");
    if (plan?.kind === "vain") throw new AppError("conflict", { publicMessage: plan.words });
  };
  await bench.look({ startDocsJob });
  await bench.look({ startDocsJob });
  const answers = (await listComments(pool, codeProject, number)).filter(({ author }) => author === "Emend");
  expect(answers.map(({ body }) => body)).toEqual([expect.stringContaining("There is nothing to fix.")]);
});

it("reports a changed default beside its name, and a new flag where the page lists its siblings", async () => {
  await bench.set({ sources: "failing", docs: "off" });
  const keyed = (key: string) => `p.add_argument("--api-key", default="${key}")\n`;
  const flags = (limit: number, more = "") =>
    `${["out-dir", "log-level", "config-file"].map((name) => `p.add_argument("--${name}")\n`).join("")}p.add_argument("--retry-limit", default=${limit})\n${more}`;
  await personGit(bench.code, "switch", "--quiet", "main");
  await bench.write(bench.code, { "src/flags.py": flags(3), "src/key.py": keyed("dev-key") });
  await bench.push(codeProject, bench.code, "main");
  await personGit(bench.work, "switch", "--quiet", "main");
  await bench.write(bench.work, {
    "flags.md": "# Flags\n\n- `--out-dir`\n- `--log-level`\n- `--config-file`\n- `--retry-limit` (default: 3)\n",
    "key.md": "# Key\n\n`--api-key` (default: `dev-key`)\n",
  });
  await bench.push(docs, bench.work, "main");
  // A credential that the change adds is not copied into the status.
  const credential = `ghp_${"aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"}`;
  await bench.openPull(codeProject, bench.code, "topic/facts", {
    "src/flags.py": flags(5, 'p.add_argument("--no-cache")\n'),
    "src/key.py": keyed(credential),
  });
  await bench.look();
  const status = await bench.onlyStatus();
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
  await bench.set({ sources: "failing", docs: "off" });
  const flags = (time: string, to: string) =>
    `${["--out-dir", "--log-level", "--config-file", to].map((name) => `p.add_argument("${name}")\n`).join("")}p.add_argument("--wait", default="${time}")\n`;
  await personGit(bench.code, "switch", "--quiet", "main");
  await bench.write(bench.code, { "src/wait.py": flags("30s", "--send-to") });
  await bench.push(codeProject, bench.code, "main");
  await personGit(bench.work, "switch", "--quiet", "main");
  const page = "# Flags\n\n`--out-dir`, `--log-level`, `--config-file`, `--send-to`\n\n- `--wait` (default: `30s`)\n";
  const planWith = async (text: string, branch: string) => {
    await personGit(bench.work, "switch", "--quiet", "main");
    await bench.write(bench.work, { "wait.md": text });
    await bench.push(docs, bench.work, "main");
    await bench.openPull(codeProject, bench.code, branch, {
      "src/wait.py": flags("60s", "--send-all-to"),
      // Otherwise both branches may have the very same commit, and one status.
      [`${branch}.txt`]: branch,
    });
    await bench.look();
    const status = (await listStatuses(bench.host.database.pool, docs)).find(({ pull }) => pull.head === branch);
    if (!status) throw new Error("no status");
    expect(status.findings.map(({ check }) => check)).not.toContain("missing-text");
    const plan = planDocsPull(status, "emend/rules");
    return plan.kind === "possible" ? plan.prompt : plan.words;
  };
  expect(await planWith(page, "topic/once")).toContain('In wait.md, replace "30s" with "60s", also in code.');
  expect(await planWith(`${page}\nIt stops after 30s.\n`, "topic/twice")).not.toContain("30s");
});
