import { inflateSync } from "node:zlib";
import { type FarTurn, protocols, type startFarModel } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { clientOf, type Installation } from "@emend/testkit/whole-server.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, commitByPerson } = models;

const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setup).\n",
  "setup.mdx": "---\ntitle: Setup\n---\n\nIt takes ten minuts.\n",
};
const finish = (title: string): FarTurn => [["finish", { title, summary: "The word was misspelt." }]];

/** Reads, edits, finishes. */
function fixTypo(turn: number): FarTurn {
  if (turn === 0) {
    return [
      ["read_file", { path: "setup.mdx" }],
      ["search", { pattern: "minuts" }],
    ];
  }
  if (turn === 1) return [["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutes" }]];
  return finish("Fix a misspelling");
}

const isSecondReader = (request: unknown) => JSON.stringify(request).includes("before a person reviews it");

const install = (script: Parameters<typeof startFarModel>[0], settings: Record<string, unknown> = {}) =>
  models.install(script, { docs, settings });

test("a job runs to a pull request with each vendor", async () => {
  const { client, project } = await install((turn, request) =>
    isSecondReader(request) ? [["report", { findings: [] }]] : fixTypo(turn),
  );
  const created = await Promise.all(protocols.map((model) => client.create({ prompt: "Fix the misspelling.", model })));
  const jobs = await Promise.all(created.map((job) => client.untilFinal(job.id)));
  expect(jobs.map((job) => [job.model, job.status])).toEqual(protocols.map((model) => [model, "completed"]));
  expect(new Set(jobs.map((job) => job.prLink)).size).toBe(protocols.length);
  for (const job of jobs) {
    expect(job.prLink).toMatch(/^http/);
    expect(await git(project.id, "show", `${job.source.ref}:setup.mdx`)).toContain("ten minutes.");
    const run = await client.run(job.id);
    // Read, edit, finish, and the second reader.
    expect(run.steps.count).toBe(4);
    expect(run.usage).toMatchObject({ inputTokens: 4000, outputTokens: 400 });
    expect(run.usage.secondReaderCostUsd).toBeCloseTo(run.usage.costUsd / 4);
    expect(run.usage.costUsd > 0).toBe(!job.model.startsWith("compatible/"));
  }
});

test("a follow-up continues the conversation on the same branch and pull request, after people's commits", async () => {
  const { client, project, far } = await install(
    (turn, request) => {
      if (!JSON.stringify(request.messages).includes("Mention coffee")) return fixTypo(turn);
      const isEdited = JSON.stringify(request.messages).includes("with coffee");
      if (isEdited) return finish("Mention coffee");
      return [["edit_file", { path: "setup.mdx", oldText: "ten minutes.", newText: "ten minutes with coffee." }]];
    },
    { secondReader: false },
  );
  const job = await client.create({ prompt: "Fix the misspelling." });
  const first = await client.untilFinal(job.id);
  await commitByPerson(project.id, first.source.ref ?? "", "index.mdx", `${docs["index.mdx"]}\nWritten by a person.\n`);

  expect((await client.send(`/job/${job.id}/message`, { prompt: "" })).status).toBe(400);
  const answer = await client.send(`/job/${job.id}/message`, { prompt: "Mention coffee." });
  expect(answer).toMatchObject({ status: 200, json: { id: job.id, status: "active", prLink: null } });
  const second = await client.untilFinal(job.id);
  expect(second).toMatchObject({ status: "completed", prLink: first.prLink, source: first.source });
  expect(await git(project.id, "show", `${second.source.ref}:setup.mdx`)).toContain("ten minutes with coffee.");
  expect(await git(project.id, "show", `${second.source.ref}:index.mdx`)).toContain("Written by a person.");
  expect(await git(project.id, "rev-list", "--count", `${second.source.ref}`)).toBe("4");
  const followUp = far.requests.find((request) => JSON.stringify(request.messages).includes("Mention coffee"));
  expect(JSON.stringify(followUp?.messages)).toContain("Fix the misspelling.");

  await client.send(`/job/${job.id}/archive`, {});
  expect((await client.send(`/job/${job.id}/message`, { prompt: "More" })).status).toBe(409);
  expect((await client.send("/job/job_unknown/message", { prompt: "More" })).status).toBe(404);
});

test("a commit that a person pushes while a follow-up works is kept: branch_conflict", async () => {
  let whileWorking = async () => {};
  const { client, project } = await install(
    (turn, request) => {
      if (!JSON.stringify(request.messages).includes("Mention coffee")) return fixTypo(turn);
      if (JSON.stringify(request.messages).includes("with coffee")) return finish("Mention coffee");
      void whileWorking();
      return [["edit_file", { path: "setup.mdx", oldText: "ten minutes.", newText: "ten minutes with coffee." }]];
    },
    { secondReader: false },
  );
  const job = await client.create({ prompt: "Fix the misspelling." });
  const first = await client.untilFinal(job.id);
  const branch = first.source.ref ?? "";
  const pushed = Promise.withResolvers<void>();
  whileWorking = () =>
    commitByPerson(project.id, branch, "index.mdx", "In between.\n").then(() => pushed.resolve(), pushed.reject);
  await client.send(`/job/${job.id}/message`, { prompt: "Mention coffee." });
  const second = await client.untilFinal(job.id);
  await pushed.promise;
  expect(second).toMatchObject({ status: "completed", prLink: first.prLink });
  expect((await client.run(job.id)).failure?.code).toBe("branch_conflict");
  expect(await git(project.id, "show", `${branch}:index.mdx`)).toContain("In between.");
  expect(await git(project.id, "show", `${branch}:setup.mdx`)).not.toContain("coffee");
});

test("a server that is killed after a stored step never asks the model for it again, nor does a follow-up", async () => {
  const more = (turn: number): FarTurn =>
    turn === 3 ? [["edit_file", { path: "setup.mdx", oldText: "ten", newText: "five" }]] : finish("Say five");
  const { server, project, key, far, installation } = await install((turn) => (turn < 3 ? fixTypo(turn) : more(turn)), {
    secondReader: false,
  });
  await server.stop();
  const id = "job_01arz3ndektsv4rrffq69g5fav";
  const { pool } = installation.database;
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
     values ($3, $1, 'Fix it', $2, 'http://x', 'emend/kill', 'emend/kill', 'test', 1)`,
    [project.id, protocols[1], id],
  );
  const killAfterStep = async () => {
    await installation.runUntilCrash("after-step-stored");
    await expireLeases(pool);
    await pool.query("update jobs set crashes = 0");
  };
  await killAfterStep();
  expect(far.requests).toHaveLength(1);
  const second = await installation.start();
  expect(await clientOf(second, project.id, key).untilFinal(id)).toMatchObject({ status: "completed" });
  // Read, edit, finish: each once.
  expect(far.requests).toHaveLength(3);

  await second.stop();
  const message = "insert into job_messages values ($1, 1, 'Say five', 3, 'test', now())";
  await pool.query(message, [id]);
  await pool.query("delete from overlay where job_id = $1", [id]);
  await pool.query(
    `update jobs set status = 'active', phase = 'queued', continues_branch = true, base_commit = null, tree_id = null,
       commit_id = null, findings = null, ended_at = null, run_after = now() where id = $1`,
    [id],
  );
  await killAfterStep();
  expect(far.requests).toHaveLength(4);
  // The conversation continues byte for byte, so that the vendor's prompt cache still hits.
  const [before, after] = far.requests.slice(-2).map(({ messages }) => messages.map((one) => JSON.stringify(one)));
  expect(after?.slice(0, before?.length)).toEqual(before);
  expect(after?.join("")).toContain(
    String.raw`{\"path\":\"setup.mdx\",\"oldText\":\"minuts\",\"newText\":\"minutes\"}`,
  );
  const third = clientOf(await installation.start(), project.id, key);
  expect(await third.untilFinal(id)).toMatchObject({ status: "completed" });
  // Edit, finish: each once.
  expect(far.requests).toHaveLength(5);
  expect((await third.run(id)).usage).toMatchObject({ inputTokens: 5000, outputTokens: 500 });
  expect(await git(project.id, "show", "emend/kill:setup.mdx")).toContain("five minutes");
});

test("a limit keeps what was done, as a draft pull request, with its code", async () => {
  const { client } = await install(
    (turn) => (turn < 2 ? fixTypo(turn) : [["read_file", { path: `setup.mdx`, startLine: turn }]]),
    {
      limits: { costUsdMax: 0.02 },
    },
  );
  const job = await client.create({ prompt: "Fix the misspelling." });
  const ended = await client.untilFinal(job.id);
  const run = await client.run(job.id);
  expect(ended).toMatchObject({ status: "failed", prLink: expect.stringMatching(/^http/) });
  expect(run).toMatchObject({ failure: { code: "budget_exceeded" }, pullRequest: { draft: true } });
});

test("a vendor's refusal fails the job in the vendor's words", async () => {
  const { client } = await install(() => ({ response: { error: { message: "no credit left" }, status: 402 } }));
  const job = await client.create({ prompt: "Fix it." });
  await client.untilFinal(job.id);
  const { failure } = await client.run(job.id);
  expect(failure).toMatchObject({ code: "model_unavailable", message: expect.stringContaining("no credit left") });
});

const secret = ["ghp", "_", "0123456789abcdefABCDEF0123456789abcd"].join("");

/** Whether any column of any table contains the text. Deflated columns are inflated first. */
async function isStored({ database: { pool } }: Installation, text: string): Promise<boolean> {
  for (const table of ["jobs", "steps", "overlay", "job_events", "job_messages", "deliveries", "local_pull_requests"]) {
    const { rows } = await pool.query(`select * from ${table}`);
    for (const value of rows.flatMap((row) => Object.values(row))) {
      const shown = Buffer.isBuffer(value) ? inflateSync(value).toString() : JSON.stringify(value);
      if (shown?.includes(text)) return true;
    }
  }
  return false;
}

test("a credential that a model writes is refused and not stored; the job continues without it", async () => {
  const { client, installation } = await install((turn) => {
    if (turn === 0) return [["write_file", { path: "a.mdx", content: `token ${secret}\n` }]];
    if (turn === 1) return [["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutes" }]];
    return [["finish", { title: "Fix it", summary: turn === 2 ? `With ${secret}` : "Fixed." }]];
  });
  const job = await client.untilFinal((await client.create({ prompt: "Fix it" })).id);
  expect(job).toMatchObject({ status: "completed", prLink: expect.stringMatching(/^http/) });
  expect((await client.run(job.id)).steps.latest[0]?.tools).toMatchObject([{ name: "write_file", ok: false }]);
  expect(await isStored(installation, "[redacted: github]")).toBe(true);
  expect(await isStored(installation, secret)).toBe(false);
});

test("a credential in a prompt or a message is stored nowhere, and the model is not told it", async () => {
  const { client, installation, far } = await install((turn) => fixTypo(turn), { secondReader: false });
  const { id } = await client.create({ prompt: `Fix it. My token is ${secret}.` });
  await client.untilFinal(id);
  await client.send(`/job/${id}/message`, { prompt: `Again, with ${secret}.` });
  await client.untilFinal(id);
  expect((await client.run(id)).prompt).toBe("Fix it. My token is [redacted: github].");
  expect(await isStored(installation, "with [redacted: github]")).toBe(true);
  expect(await isStored(installation, secret)).toBe(false);
  expect(JSON.stringify(far.requests)).not.toContain(secret);
});

test("a change with the project's encoded model key is not published", async () => {
  const own = "a-key-0f-the-project-and-of-nobody";
  const encoded = Buffer.from(`user:${own}`).toString("base64");
  const { client, server, project } = await install((turn) => {
    // Split in two halves, so that a check of a single call misses it.
    if (turn === 0) return [["write_file", { path: "a.mdx", content: `Basic ${encoded.slice(0, 9)}~~\n` }]];
    if (turn === 1) return [["edit_file", { path: "a.mdx", oldText: "~~", newText: encoded.slice(9) }]];
    return finish("Add a page");
  });
  await server.admin.setModelKey({ projectId: project.id, vendor: "google", key: own });
  const { id } = await client.create({ prompt: "Add a page" });
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: null });
  expect((await client.run(id)).violations).toMatchObject([{ path: "a.mdx" }]);
});

test("a change that is denied for a credential stores none of its texts", async () => {
  // Split in two halves, so that a check of a single call misses it.
  const [half, rest] = [secret.slice(0, 20), secret.slice(20)];
  const { client, installation } = await install((turn) => {
    if (turn === 0) return [["write_file", { path: "a.mdx", content: `token ${half}~~\n` }]];
    if (turn === 1) return [["edit_file", { path: "a.mdx", oldText: "~~", newText: rest }]];
    return [["finish", { title: "Add a page", summary: "A page." }]];
  });
  const { id } = await client.create({ prompt: "Add a page" });
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: null });
  const run = await client.run(id);
  expect(run).toMatchObject({ failure: { code: "policy_denied" }, violations: [{ path: "a.mdx" }] });
  expect(run.steps.latest.flatMap(({ tools }) => tools.map(({ name }) => name))).toContain("write_file");
  expect((await client.send(`/job/${id}/diff`)).text).toBe("");
  for (const part of [secret, half, rest]) expect(await isStored(installation, part)).toBe(false);
});
