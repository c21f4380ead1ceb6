import { useModelProject } from "@emend/testkit/model-project.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { expireLeases, waitForJob } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, commitByPerson, pullOf, query } = models;

const page = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.md": page("Home", "See [setup](/setup)."),
  "setup.md": page("Setup", "It takes TODO minutes.\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."),
};
const embed = '<iframe src="https://www.youtube.com/embed/x1" width="560" height="315"></iframe>';
const prompt = "Embed the video https://www.youtube.com/embed/x1 in the setup page.";
const writes =
  (text: string) =>
  (turn: number): ReturnType<Parameters<typeof models.install>[0]> =>
    turn === 0
      ? [["edit_file", { path: "setup.md", oldText: "It takes TODO minutes.", newText: text }]]
      : [["finish", { title: "Embed the video", summary: "Embedded it." }]];
const isWaiting = (job: { waiting_for: string; waiting_since: Date | null }) =>
  job.waiting_for === "approval" && job.waiting_since !== null;

type Script = Parameters<typeof models.install>[0];

async function waiting(settings: Record<string, unknown> = {}, script: Script = writes(embed)) {
  const installed = await models.install(script, { docs, settings: { secondReader: false, ...settings } });
  const { client, installation, project, far } = installed;
  const { pool } = installation.database;
  const { id } = await client.create({ prompt });
  await waitForJob(pool, id, (job) => isWaiting(job) || job.status === "failed");
  const requests = far.requests.length;
  const branches = () => git(project.id, "for-each-ref", "--format=%(refname:short)");
  const answer = (what: string, body: object = {}) => client.send(`/job/${id}/${what}`, body);
  return { ...installed, pool, id, requests, branches, answer };
}

test("a change with an unknown construct waits before anything leaves Emend, and is published when approved", async () => {
  const { client, project, id, far, requests, branches, answer } = await waiting();
  expect((await client.send(`/job/${id}`)).json).toMatchObject({ status: "active", prLink: null });
  const run = await client.run(id);
  expect(run.waiting).toMatchObject({
    for: "approval",
    message: expect.stringContaining("the element iframe in setup.md"),
    constructs: [{ path: "setup.md", line: 5, kind: "element", count: 1, around: { line: 3 } }],
    until: expect.any(String),
  });
  expect(run.waiting?.constructs?.[0]).not.toHaveProperty("key");
  expect(run).toMatchObject({ isApprovable: true, pullRequest: null });
  const diff = (await client.send(`/job/${id}/diff`)).text;
  expect(diff).toContain(embed);
  expect(await branches()).toBe("main");
  expect(await pullOf(project.id)).toBeUndefined();
  expect((await answer("approve")).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(await git(project.id, "diff", "--full-index", "main", `emend/${id}`)).toBe(diff.trim());
  expect(far.requests).toHaveLength(requests);
  expect((await client.run(id)).pullRequest).toMatchObject({ draft: false });
  const kinds = (await query("select kind from job_events where kind like 'job.%' order by seq")).map(
    (one) => one.kind,
  );
  expect(kinds).toEqual(["job.created", "job.waiting", "job.approved"]);
});

test("where nobody answers in time, the job fails and keeps its change, and one approval publishes it later", async () => {
  const { client, id, far, requests, branches, answer, pool } = await waiting();
  await pool.query("update job_questions set answer_until = now() - interval '1 minute'");
  await pool.query("update jobs set run_after = now()");
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: null });
  const run = await client.run(id);
  expect(run).toMatchObject({ failure: { code: "policy_denied" }, isApprovable: true, waiting: null });
  expect(run.failure?.message).toContain("The time to answer (24 h) is over");
  expect((await client.send(`/job/${id}/diff`)).text).toContain(embed);
  expect(await branches()).toBe("main");
  expect((await answer("approve")).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(far.requests).toHaveLength(requests);
});

test("a declined change is never pushed; a message has it made in another way", async () => {
  const script: Parameters<typeof models.install>[0] = (turn) =>
    turn < 2
      ? writes(embed)(turn)
      : turn === 2
        ? [["edit_file", { path: "setup.md", oldText: embed, newText: "It takes ten minutes." }]]
        : [["finish", { title: "Say how long it takes", summary: "Wrote it in words.", reply: "Done." }]];
  const { client, id, branches, answer, project } = await waiting({}, script);
  expect((await answer("decline")).json).toMatchObject({ status: "failed", prLink: null });
  expect(await branches()).toBe("main");
  expect((await client.run(id)).isApprovable).toBe(false);
  await client.send(`/job/${id}/message`, { prompt: "Say it in words." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(await git(project.id, "show", `emend/${id}:setup.md`)).not.toContain("iframe");
});

test("a message while it waits has the agent work on, and what it makes then is asked about anew", async () => {
  const wider = embed.replace("560", "640");
  const script: Parameters<typeof models.install>[0] = (turn) =>
    turn < 2
      ? writes(embed)(turn)
      : turn === 2
        ? [["edit_file", { path: "setup.md", oldText: embed, newText: wider }]]
        : [["finish", { title: "Widen it", summary: "Wider.", reply: "Wider." }]];
  const { client, id, branches, answer, pool } = await waiting({}, script);
  await client.send(`/job/${id}/message`, { prompt: "Make it wider." });
  await waitForJob(pool, id, (job) => isWaiting(job) && job.rounds.length === 1);
  expect((await client.run(id)).waiting?.constructs).toMatchObject([{ text: expect.stringContaining("640") }]);
  expect(await branches()).toBe("main");
  await answer("approve");
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  const { rows } = await pool.query("select decision from job_questions order by id");
  expect(rows).toEqual([{ decision: "withdrawn" }, { decision: "approved" }]);
});

test("where the base branch moved, the same construct is published, and one that may have changed is asked anew", async () => {
  const moved = docs["setup.md"].replace("Five.", "Six.");
  const first = await waiting();
  await commitByPerson(first.project.id, "main", "setup.md", moved);
  await first.answer("approve");
  expect(await first.client.untilFinal(first.id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  await first.installation.remove();
  // Its text is shown in part, so that what follows may have changed.
  const long = embed.replace("<iframe", `<iframe title="${"A long title. ".repeat(50)}"`);
  const { client, project, id, answer, pool, branches } = await waiting({}, writes(long));
  await commitByPerson(project.id, "main", "setup.md", moved);
  await answer("approve");
  await waitForJob(pool, id, isWaiting);
  expect(await query("select decision from job_questions order by id")).toEqual([
    { decision: "approved" },
    { decision: null },
  ]);
  expect(await branches()).toBe("main");
  expect((await answer("approve")).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
});

test("what is remembered is not asked again, until another attribute comes or it is removed", async () => {
  let text = embed;
  const { client, id, answer, pool, server, project } = await waiting({}, (turn) => writes(text)(turn % 2));
  await answer("approve", { remember: true });
  await client.untilFinal(id);
  const [known] = await server.admin.listAllowedConstructs(project.id);
  expect(known).toMatchObject({
    key: expect.stringMatching(/^element iframe\[/),
    by: expect.stringMatching(/^key\//),
    jobId: id,
  });
  const again = await client.create({ prompt });
  expect(await client.untilFinal(again.id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  text = embed.replace("<iframe", '<iframe name="video"');
  const other = await client.create({ prompt });
  await waitForJob(pool, other.id, isWaiting);
  await client.send(`/job/${other.id}/decline`, {});
  text = embed;
  expect(await server.admin.removeAllowedConstruct({ projectId: project.id, key: known?.key ?? "" })).toBe(true);
  const asked = await client.create({ prompt });
  await waitForJob(pool, asked.id, isWaiting);
});

test("the request's wish goes before the project's: a draft lists the construct, a refusal publishes nothing", async () => {
  const { client, id, branches, project } = await waiting({ policy: { unknown: "refuse" } }, (turn) =>
    writes(embed)(turn % 2),
  );
  expect((await client.run(id)).failure).toMatchObject({
    code: "policy_denied",
    message: expect.stringContaining("setup.md"),
  });
  expect((await client.run(id)).isApprovable).toBe(false);
  expect(await branches()).toBe("main");
  expect((await client.send("/job", { prompt, unknown: "maybe" })).status).toBe(400);
  const { id: drafted } = (await client.send("/job", { prompt, unknown: "draft" })).json as { id: string };
  expect(await client.untilFinal(drafted)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect((await client.run(drafted)).pullRequest).toMatchObject({ draft: true });
  expect((await client.run(drafted)).findings?.introduced).toMatchObject([
    { check: "unknown-construct", path: "setup.md" },
  ]);
  expect((await pullOf(project.id))?.body).toContain("no page of the site has yet");
});

test("a preview is shown without a question, and asks before it is published", async () => {
  const { client, pool, branches, far } = await waiting({}, (turn) => writes(embed)(turn % 2));
  const { id } = (await client.send("/job", { prompt, preview: true })).json as { id: string };
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: null });
  const requests = far.requests.length;
  await client.send(`/job/${id}/publish`, {});
  await waitForJob(pool, id, isWaiting);
  expect(await branches()).toBe("main");
  await client.send(`/job/${id}/approve`, {});
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(far.requests).toHaveLength(requests);
});

test("a follow-up asks too, and nothing of it is pushed before", async () => {
  const script: Parameters<typeof models.install>[0] = (turn) =>
    turn < 2
      ? writes("It takes ten minutes.")(turn)
      : turn === 2
        ? [["edit_file", { path: "setup.md", oldText: "One.", newText: embed }]]
        : [["finish", { title: "Embed the video", summary: "Embedded it.", reply: "Embedded." }]];
  const { client, installation, project } = await models.install(script, { docs, settings: { secondReader: false } });
  const { id } = await client.create({ prompt: "Say how long it takes." });
  const published = await client.untilFinal(id);
  const commit = await git(project.id, "rev-parse", `emend/${id}`);
  await client.send(`/job/${id}/message`, { prompt });
  await waitForJob(installation.database.pool, id, isWaiting);
  expect(await git(project.id, "rev-parse", `emend/${id}`)).toBe(commit);
  expect((await client.send(`/job/${id}`)).json).toMatchObject({ status: "active", prLink: null });
  await client.send(`/job/${id}/decline`, {});
  // What it had published stays.
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: published.prLink });
  expect(await git(project.id, "rev-parse", `emend/${id}`)).toBe(commit);
});

test("a job of which everything was refused says so first, and is no ordinary success", async () => {
  const { client, id } = await (async () => {
    const script: Parameters<typeof models.install>[0] = (turn) =>
      turn === 0
        ? [["edit_file", { path: "setup.md", oldText: "One.", newText: "<script>steal()</script>" }]]
        : [["finish", { title: "Nothing", summary: "I could not add the script." }]];
    const installed = await models.install(script, { docs, settings: { secondReader: false } });
    return { ...installed, id: (await installed.client.create({ prompt: "Add a script." })).id };
  })();
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: null });
  const run = await client.run(id);
  expect(run.refused).toContain("setup.md");
  expect(run.summary).toMatch(/^Emend refused this change: setup\.md/);
  expect(run.summary).toContain("I could not add the script.");
});

test("a server that dies while it publishes what was approved leaves one pull request, and asks no model", async () => {
  const { server, client, installation, project, key, id, far, requests, pool } = await waiting();
  // Another job has the only lane until this server has stopped.
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq, lease, lease_until)
     select 'job_' || number, id, 'x', 'x', 'x', 'x', 'x', 'test', 1, gen_random_uuid(), now() + interval '1 hour'
     from projects, generate_series(1, 4) number`,
  );
  expect((await client.send(`/job/${id}/approve`, {})).status).toBe(200);
  await server.stop();
  await pool.query("delete from jobs where id <> $1", [id]);
  for (const point of ["after-claim", "after-review", "after-change-stored", "after-commit-stored", "after-create"]) {
    await installation.runUntilCrash(point);
    await expireLeases(pool);
    await pool.query("update jobs set crashes = 0, crashes_blamed = 0");
  }
  const again = clientOf(await installation.start(), project.id, key);
  expect(await again.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(far.requests).toHaveLength(requests);
  expect((await pool.query("select 1 from local_pull_requests")).rowCount).toBe(1);
  expect((await pool.query("select 1 from job_questions")).rowCount).toBe(1);
});
