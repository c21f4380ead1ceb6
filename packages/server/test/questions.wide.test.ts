import { protocols } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { expireLeases, waitForJob } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, pullOf } = models;

const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setup).\n",
  "setup.mdx": "---\ntitle: Setup\n---\n\nIt takes TODO minutes.\n",
};
const asks: [string, unknown] = ["ask", { question: "How many minutes does it take?", options: ["5", "10"] }];

/** Reads, asks, writes what it heard (or guesses), finishes. */
const script: Parameters<typeof models.install>[0] = (turn, { messages }) => {
  const said = JSON.stringify(messages);
  if (turn === 0) return [["read_file", { path: "setup.mdx" }]];
  if (turn === 1) return [asks];
  const heard = /after your question:\D+(\d+)/.exec(said)?.[1] ?? "some";
  if (turn === 2) return [["edit_file", { path: "setup.mdx", oldText: "TODO", newText: heard }]];
  return [["finish", { title: "Say how long it takes", summary: "Wrote the minutes." }]];
};
const settings = { secondReader: false };
const isAsking = (job: { waiting_for: string; waiting_since: Date | null }) =>
  job.waiting_for === "answer" && job.waiting_since !== null;

test("a job waits for an answer without a worker, hears it once, and never pays a turn twice", async () => {
  const { client, far, installation, project } = await models.install(script, { docs, settings });
  const { pool } = installation.database;
  const { id } = await client.create({ prompt: "Say how long the setup takes." });
  const waiting = await waitForJob(pool, id, isAsking);
  expect(waiting).toMatchObject({ status: "active", lease: null, phase: "queued" });
  expect((await client.send(`/job/${id}`)).json).toMatchObject({ status: "active", prLink: null });
  expect((await client.run(id)).waiting).toMatchObject({
    for: "answer",
    message: "How many minutes does it take?",
    options: ["5", "10"],
  });
  expect(far.requests).toHaveLength(2);
  expect((await client.send(`/job/${id}/message`, { prompt: "12" })).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(far.requests).toHaveLength(4);
  expect(await git(project.id, "show", `emend/${id}:setup.mdx`)).toContain("It takes 12 minutes.");
  expect((await client.run(id)).pullRequest).toMatchObject({ draft: false });
  const { rows } = await pool.query("select kind from job_events where kind in ('job.question', 'job.interjection')");
  expect(rows.map(({ kind }) => kind)).toEqual(["job.question", "job.interjection"]);
});

test("where nobody answers in time, the agent guesses, and a draft says so", async () => {
  const { client, project, far } = await models.install(script, {
    docs,
    settings: { ...settings, answerWaitHours: 0 },
  });
  const { id } = await client.create({ prompt: "Say how long the setup takes." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(far.requests).toHaveLength(4);
  expect(JSON.stringify(far.requests[2]?.messages)).toContain("Nobody answered in time");
  const run = await client.run(id);
  expect(run.pullRequest).toMatchObject({ draft: true });
  expect(run.notices).toEqual([expect.stringContaining("best guess: How many minutes does it take?")]);
  expect((await pullOf(project.id))?.body).toContain("question got no answer in time");
});

test("no question is asked beyond the budget, nor by a job that nobody reads", async () => {
  const { client, installation, far, project } = await models.install(
    (turn) => (turn < 2 ? [asks] : [["finish", { title: "Nothing", summary: "Nothing to do." }]]),
    { docs, settings: { ...settings, questionsMax: 1 } },
  );
  const { pool } = installation.database;
  const { id } = await client.create({ prompt: "Say how long the setup takes." });
  await waitForJob(pool, id, isAsking);
  await client.send(`/job/${id}/message`, { prompt: "Never mind." });
  await client.untilFinal(id);
  expect(JSON.stringify(far.requests[2]?.messages)).toContain("no question is left");
  expect(JSON.stringify(far.requests[0]?.tools)).toContain('"ask"');
  const automated = "job_01arz3ndektsv4rrffq69g5fav";
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
     values ($3, $1, 'Fix it', $2, 'http://x', 'emend/auto', 'emend/auto', 'automation/atm_1', 1)`,
    [project.id, protocols[0], automated],
  );
  await client.untilFinal(automated);
  expect(JSON.stringify(far.requests[3]?.tools)).not.toContain('"ask"');
  expect((await pool.query("select 1 from job_questions where job_id = $1", [automated])).rowCount).toBe(0);
});

test("a job that waits for an answer can be canceled", async () => {
  const { client, installation } = await models.install(script, { docs, settings });
  const { id } = await client.create({ prompt: "Say how long the setup takes." });
  await waitForJob(installation.database.pool, id, isAsking);
  expect((await client.send(`/job/${id}/cancel`, {})).json).toMatchObject({ status: "failed" });
  expect((await client.run(id)).waiting).toBeNull();
});

const deaths = [
  { at: "before-step-stored:2", requests: 5 },
  { at: "after-step-stored:2", requests: 4 },
  { at: "before-question-told", requests: 4 },
  { at: "after-question-told", requests: 4 },
];
test.for(deaths)("a server that dies at $at asks once, and no stored turn is paid again", async ({ at, requests }) => {
  const { server, project, key, far, installation } = await models.install(script, { docs, settings });
  const { pool } = installation.database;
  const { id } = await clientOf(server, project.id, key).create({ prompt: "Say how long the setup takes." });
  await waitForJob(pool, id, isAsking);
  await server.stop();
  // The same job again, from its beginning.
  await pool.query("delete from steps");
  await pool.query("delete from job_questions");
  await pool.query("delete from job_events where kind = 'job.question'");
  await pool.query("update jobs set waiting_since = null, run_after = now(), usage = '{}'");
  far.requests.length = 0;
  await installation.runUntilCrash(at);
  await expireLeases(pool);
  const second = await installation.start();
  await waitForJob(pool, id, isAsking);
  const client = clientOf(second, project.id, key);
  await client.send(`/job/${id}/message`, { prompt: "12" });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(far.requests).toHaveLength(requests);
  expect((await pool.query("select 1 from job_events where kind = 'job.question'")).rowCount).toBe(1);
  expect(await git(project.id, "show", `emend/${id}:setup.mdx`)).toContain("It takes 12 minutes.");
});

test.for(["after-interjections-read", "before-step-stored", "after-step-stored"])(
  "an answer is heard once although the server dies at %s",
  async (at) => {
    const { server, project, key, far, installation } = await models.install(script, {
      docs,
      settings: { ...settings, lanes: 1 },
    });
    const { pool } = installation.database;
    const { id } = await clientOf(server, project.id, key).create({ prompt: "Say how long the setup takes." });
    await waitForJob(pool, id, isAsking);
    // Another job has the only lane, so that only the next server hears the answer.
    await pool.query(
      `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq, lease, lease_until)
       select 'job_other', id, 'x', 'x', 'x', 'x', 'x', 'test', 1, gen_random_uuid(), now() + interval '1 hour' from projects`,
    );
    const answered = await clientOf(server, project.id, key).send(`/job/${id}/message`, { prompt: "12" });
    expect(answered).toMatchObject({ status: 200 });
    await server.stop();
    await pool.query("delete from jobs where id = 'job_other'");
    await installation.runUntilCrash(at);
    await expireLeases(pool);
    const client = clientOf(await installation.start(), project.id, key);
    expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
    expect(await git(project.id, "show", `emend/${id}:setup.mdx`)).toContain("It takes 12 minutes.");
    expect(JSON.stringify(far.requests.at(-1)?.messages).split("after your question:")).toHaveLength(2);
    const { rows } = await pool.query("select taken_at is not null as taken, step from job_interjections");
    expect(rows).toEqual([{ taken: true, step: 3 }]);
  },
);
