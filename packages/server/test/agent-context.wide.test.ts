import { type FarTurn, protocols, type startFarModel } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, commitByPerson, pullOf } = models;

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
  const settings = { secondReader: false, styleGuides: ["STYLE.md", "no/such.md"] };
  const installed = await models.install(script, { docs, settings });
  const { admin } = installed.server;
  const repo = await installed.installation.makeDocs(code);
  const api = await admin.addProject({ name: "API", forge: "local", repo });
  await admin.addContextRepository({ projectId: installed.project.id, name: "api", forge: "local", repo: api.id });
  return { ...installed, api };
}

test("a job documents what a context repository says, and its pull request cites the lines", async () => {
  const { client, project, api, far } = await install(documentLimit);
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
  const body = (await pullOf(project.id))?.body ?? "";
  expect(body).toContain(`### Sources\n\n- \`api/src/limits.ts:1\` at \`${commit.slice(0, 10)}\``);
  expect(body.startsWith("## What changed\n\nThe limit was not said.\n\n## Ticket\n\nNone")).toBe(true);
  expect(body).toMatch(/Made by Emend with `anthropic\/claude-sonnet-4-5` in 4 steps: 4,000 tokens in, 400 out, \$0\./);
  const first = JSON.stringify(far.requests[0]?.messages);
  expect(first).toContain("Say it in numbers.");
  expect(first).toContain("@api");

  await client.send(`/job/${job.id}/message`, { prompt: "In words." });
  expect(await client.untilFinal(job.id)).toMatchObject({ status: "completed", prLink: job.prLink });
  const told = (await pullOf(project.id))?.body ?? "";
  expect(told.startsWith("## What changed\n\nThe limit was not said.\n\n## Ticket\n\nNone")).toBe(true);
  expect(told).toContain("**2.** Asked:\n\n> In words.\n\nThe limit was not said.");
  expect(told).toContain(`### Sources\n\n- \`api/src/limits.ts:1\` at \`${commit.slice(0, 10)}\``);
});

test("a killed job still reads its pinned commit after later pushes", async () => {
  const { server, project, api, key, far, installation } = await install(documentLimit);
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
  await commitByPerson(api.id, "main", "src/limits.ts", "export const requestsMax = 99;\n");

  const client = clientOf(await installation.start(), project.id, key);
  await client.untilFinal("job_01arz3ndektsv4rrffq69g5fav");
  const run = await client.run("job_01arz3ndektsv4rrffq69g5fav");
  expect(run).toMatchObject({ context: [{ name: "api", commit }], sources: [{ commit }] });
  const seen = far.requests.map(({ messages }) => JSON.stringify(messages)).join();
  expect(seen.match(/requestsMax = 7/g)?.length).toBeGreaterThan(2);
  expect(seen).not.toContain("requestsMax = 99");
});

test("a preview shows its diff and opens no pull request", async () => {
  const { client, project } = await install(documentLimit);
  const created = await client.send("/job", { prompt: "Say the limit.", preview: true });
  expect(created.status).toBe(201);
  const { id } = created.json as { id: string };
  const job = await client.untilFinal(id);
  expect(job).toMatchObject({ status: "completed", prLink: null, source: { ref: null } });
  expect((await client.send(`/job/${id}/diff`)).text).toContain("+Seven requests a minute.");
  expect(await client.run(id)).toMatchObject({ preview: true, pullRequest: null, summary: "The limit was not said." });
  expect(await git(project.id, "for-each-ref", "--format=%(refname)")).toBe("refs/heads/main");
  expect(await pullOf(project.id)).toBeUndefined();
  expect((await client.send("/job", { prompt: "x", preview: "yes" })).status).toBe(400);
});
