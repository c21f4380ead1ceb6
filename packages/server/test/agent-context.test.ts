import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { type FarModel, type FarTurn, protocols, startFarModel } from "./support/far-model.ts";
import { clientOf, createInstallation, type Installation } from "./support/whole-server.ts";
import { expireLeases } from "./support/worker-control.ts";

// Whole servers, one of them killed and started again: slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

let far: FarModel;
let installation: Installation;
afterEach(async () => {
  await installation.remove();
  await far.stop();
});

const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nWelcome.\n",
  "STYLE.md": "Say it in numbers.\n",
  ".commitlintrc.json": "{}\n",
  ".github/pull_request_template.md": "## What changed\n\n<!-- tell us -->\n\n## Ticket\n\nNone\n",
};
const code = { "src/limits.ts": "export const requestsMax = 7;\n" };
const page = "---\ntitle: Home\n---\n\nSeven requests a minute.\n";
const finish: FarTurn = [
  [
    "finish",
    { title: "Say how many requests fit", summary: "The limit was not said.", sources: ["@api/src/limits.ts:1"] },
  ],
];

/** Reads the code twice, writes what it found, and cites it. */
function documentLimit(turn: number, { messages }: { messages: unknown }): FarTurn {
  if (JSON.stringify(messages).includes("In words") && !JSON.stringify(messages).includes("Once: seven")) {
    return [["edit_file", { path: "index.mdx", oldText: "Seven", newText: "Once: seven" }]];
  }
  if (turn < 2) return [["read_file", { path: "@api/src/limits.ts", startLine: 1, ...(turn === 1 && { endLine: 1 }) }]];
  if (turn === 2) return [["write_file", { path: "index.mdx", content: page }]];
  return finish;
}

async function install(script: Parameters<typeof startFarModel>[0]) {
  far = await startFarModel(script);
  installation = await createInstallation({ ...far.environment, EMEND_MODEL: protocols[0] });
  const server = await installation.start();
  const { admin } = server;
  const repo = await installation.makeDocs(docs);
  const settings = { selfReview: false, styleGuides: ["STYLE.md", "no/such.md"] };
  const project = await admin.addProject({ name: "Docs", forge: "local", repo, settings });
  const api = await admin.addProject({ name: "API", forge: "local", repo: await installation.makeDocs(code) });
  await admin.addContextRepository({ projectId: project.id, name: "api", forge: "local", repo: api.id });
  const { key } = await admin.createKey({ projectIds: [project.id], name: "test", scope: "write" });
  return { server, project, api, key, client: clientOf(server, project.id, key) };
}

async function git(projectId: string, ...args: string[]): Promise<string> {
  const gitDir = join(installation.forgeDir, `${projectId}.git`);
  const { stdout } = await promisify(execFile)("git", ["-c", "safe.bareRepository=all", "--git-dir", gitDir, ...args]);
  return stdout.trim();
}

/** The repository's default branch goes on. */
async function rewriteLimit(projectId: string, text: string): Promise<void> {
  const stream = [
    "commit refs/heads/main",
    "committer A person <person@example.com> 1700000000 +0000",
    "data 6\nPerson",
    `from ${await git(projectId, "rev-parse", "main")}`,
    "M 100644 inline src/limits.ts",
    `data ${Buffer.byteLength(text)}\n${text}`,
    "",
  ].join("\n");
  const gitDir = join(installation.forgeDir, `${projectId}.git`);
  const running = promisify(execFile)("git", ["--git-dir", gitDir, "fast-import", "--quiet"]);
  running.child.stdin?.end(stream);
  await running;
}

async function bodyOf(projectId: string): Promise<string> {
  const { rows } = await installation.database.pool.query(
    "select body from local_pull_requests where project_id = $1 order by number desc",
    [projectId],
  );
  return rows[0]?.body ?? "";
}

test("a job documents what a context repository says, and its pull request cites the lines", async () => {
  const { client, project, api } = await install(documentLimit);
  const commit = await git(api.id, "rev-parse", "main");
  const job = await client.untilFinal((await client.create({ prompt: "Say the limit." })).id);
  expect(job).toMatchObject({ status: "completed", prLink: expect.stringMatching(/^http/) });
  expect(await client.run(job.id)).toMatchObject({
    preview: false,
    context: [{ name: "api", repositoryUrl: api.repositoryUrl, ref: "main", commit }],
    sources: [{ repository: "api", path: "src/limits.ts", line: 1, commit }],
  });
  expect(await git(project.id, "log", "-1", "--format=%s", job.source.ref ?? "")).toBe(
    "docs: say how many requests fit",
  );
  const body = await bodyOf(project.id);
  expect(body).toContain(`### Sources\n\n- \`api/src/limits.ts:1\` at \`${commit.slice(0, 10)}\``);
  expect(body.startsWith("## What changed\n\nThe limit was not said.\n\n## Ticket\n\nNone")).toBe(true);
  expect(body).toMatch(/Made by Emend with `anthropic\/claude-sonnet-4-5` in 4 steps: 4,000 tokens in, 400 out, \$0\./);
  const first = JSON.stringify(far.requests[0]?.messages);
  expect(first).toContain("Say it in numbers.");
  expect(first).toContain("@api");

  await client.send(`/job/${job.id}/message`, { prompt: "In words." });
  expect(await client.untilFinal(job.id)).toMatchObject({ status: "completed", prLink: job.prLink });
  const told = await bodyOf(project.id);
  expect(told.startsWith(body.slice(0, body.indexOf("<!--")).trimEnd())).toBe(true);
  expect(told).toContain("## Follow-up\n\n```text\nIn words.\n```");
});

test("a job that was killed reads the commit that it had pinned, whatever was pushed since", async () => {
  const { server, project, api, key } = await install(documentLimit);
  await server.stop();
  const { pool } = installation.database;
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
     values ('job_01arz3ndektsv4rrffq69g5fav', $1, 'Say it', $2, 'http://x', 'emend/kill', 'emend/kill', 'test', 1)`,
    [project.id, protocols[1]],
  );
  await installation.runUntilCrash("after-step-stored");
  await expireLeases(pool);
  const commit = await git(api.id, "rev-parse", "main");
  await rewriteLimit(api.id, "export const requestsMax = 99;\n");

  const client = clientOf(await installation.start(), project.id, key);
  await client.untilFinal("job_01arz3ndektsv4rrffq69g5fav");
  const run = await client.run("job_01arz3ndektsv4rrffq69g5fav");
  expect(run).toMatchObject({ context: [{ name: "api", commit }], sources: [{ commit }] });
  const seen = far.requests.map(({ messages }) => JSON.stringify(messages)).join();
  expect(seen.match(/requestsMax = 7/g)?.length).toBeGreaterThan(2);
  expect(seen).not.toContain("requestsMax = 99");
});

test("a preview shows its diff and opens nothing", async () => {
  const { client, project } = await install(documentLimit);
  const created = await client.send("/job", { prompt: "Say the limit.", preview: true });
  expect(created.status).toBe(201);
  const { id } = created.json as { id: string };
  const job = await client.untilFinal(id);
  expect(job).toMatchObject({ status: "completed", prLink: null, source: { ref: null } });
  expect((await client.send(`/job/${id}/diff`)).text).toContain("+Seven requests a minute.");
  expect(await client.run(id)).toMatchObject({ preview: true, pullRequest: null, summary: "The limit was not said." });
  expect(await git(project.id, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  expect(await bodyOf(project.id)).toBe("");
  expect((await client.send("/job", { prompt: "x", preview: "yes" })).status).toBe(400);
});
