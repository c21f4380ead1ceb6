import { startApi } from "@emend/testkit/api.ts";
import { alterJob, readEvents, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, expect, test } from "vitest";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project);

const construct = {
  ...{ id: "one", path: "a.md", line: 3, text: "<iframe src='x'>", kind: "element", reason: "New.", count: 1 },
  ...{ around: null, key: "element iframe[src]" },
};

/** A finished change whose question waits, until `until`. */
async function asked(assignments = "", decision = "null"): Promise<string> {
  const id = await seedJob(api.pool, project.id);
  const waiting =
    "phase = 'queued', waiting_for = 'approval', waiting_since = now(), run_after = now() + interval '1 hour'";
  await alterJob(api.pool, id, waiting);
  if (assignments !== "") await alterJob(api.pool, id, assignments);
  await api.pool.query(
    `insert into job_questions (job_id, question, answer_until, constructs, decision, decided_by)
     values ($1, 'Publish?', now() + interval '1 hour', $2, ${decision}, case when ${decision}::text is not null then 'user/bo@example.com' end)`,
    [id, JSON.stringify([construct, { ...construct, id: "two", key: null }])],
  );
  return id;
}
type Call = { key?: string; body?: unknown };
const answer = (id: string, what: "approve" | "decline", { body, ...more }: Call = {}) =>
  api.send(`/v2/agent/${project.id}/job/${id}/${what}`, {
    method: "POST",
    key,
    ...more,
    ...(body !== undefined && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
const allowed = async () => (await api.pool.query("select key, allowed_by, job_id from allowed_constructs")).rows;

test("200: an approved job is due with exactly what was approved; nothing is remembered unless asked for", async () => {
  const id = await asked();
  expect(await answer(id, "approve")).toMatchObject({ status: 200, json: { id, status: "active", prLink: null } });
  expect(await readJob(api.pool, id)).toMatchObject({ approved: ["one", "two"], waiting_since: null, phase: "queued" });
  expect((await readEvents(api.pool, id)).at(-1)).toMatchObject({ kind: "job.approved", data: { remember: false } });
  expect(await allowed()).toEqual([]);
});

test("of two answers at once the first counts, and 409 says what it was", async () => {
  const id = await asked();
  const answers = await Promise.all([answer(id, "approve"), answer(id, "decline"), answer(id, "approve")]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  const isApproved = answers[1]?.status === 409;
  const words = isApproved ? "already approved by key/" : "already declined by key/";
  expect(answers.filter(({ status }) => status === 409).map(({ text }) => text)).toEqual(
    Array(2).fill(expect.stringContaining(words)),
  );
  const { rows } = await api.pool.query("select decision from job_questions where job_id = $1", [id]);
  expect(rows).toEqual([{ decision: isApproved ? "approved" : "declined" }]);
});

test("remember stores what can be remembered, once, with who allowed it, and the audit log has it", async () => {
  for (const _time of [1, 2]) {
    expect((await answer(await asked(), "approve", { body: { remember: true } })).status).toBe(200);
  }
  expect(await allowed()).toEqual([
    { key: "element iframe[src]", allowed_by: expect.stringMatching(/^key\//), job_id: expect.any(String) },
  ]);
  await api.pool.query("delete from allowed_constructs");
  const { rows } = await api.pool.query(
    "select action, details from audit_log where action like 'construct.%' order by id",
  );
  expect(rows).toMatchObject([
    { action: "construct.allowed", details: { construct: "element iframe[src]" } },
    { action: "construct.removed" },
  ]);
});

test("a declined job has failed, and its words say who decided", async () => {
  const id = await asked();
  expect((await answer(id, "decline")).json).toMatchObject({ status: "failed", prLink: null });
  const run = (await api.send(`/v2/agent/${project.id}/job/${id}/run`, { key })).json;
  expect(run).toMatchObject({
    failure: { code: "policy_denied", message: expect.stringContaining("decided not to publish") },
    declinedBy: expect.stringMatching(/^key\//),
    isApprovable: false,
    waiting: null,
  });
  expect((await answer(id, "approve")).text).toContain("already declined");
});

test("an approval publishes a job whose question nobody answered in time, but a decline comes too late", async () => {
  const id = await asked("status = 'failed', failure_code = 'policy_denied', waiting_since = null, ended_at = now()");
  const run = (await api.send(`/v2/agent/${project.id}/job/${id}/run`, { key })).json;
  expect(run).toMatchObject({ isApprovable: true, unanswered: [{ path: construct.path }, {}] });
  expect((await answer(id, "decline")).status).toBe(409);
  expect((await answer(id, "approve")).json).toMatchObject({ status: "active" });
  expect(await readJob(api.pool, id)).toMatchObject({ failure_code: null, ended_at: null, approved: ["one", "two"] });
});

test("a run that is about to end the job for want of an answer loses its lease to an approval", async () => {
  const id = await asked("waiting_since = null, lease = gen_random_uuid(), lease_until = now() + interval '1 minute'");
  expect((await answer(id, "approve")).status).toBe(200);
  expect(await readJob(api.pool, id)).toMatchObject({ lease: null, status: "active" });
});

const ended = "waiting_since = null, ended_at = now()";
test.each([
  ["one that was cancelled", `status = 'failed', failure_code = 'cancelled', ${ended}`, "null", "has ended"],
  ["one that failed otherwise", `status = 'failed', failure_code = 'timeout', ${ended}`, "null", "has ended"],
  ["one that was published", `status = 'completed', ${ended}`, "'approved'", "already approved by bo@example.com"],
  ["one that a message continues", "waiting_since = null", "'withdrawn'", "does not wait for approval"],
  ["an archived one", `status = 'archived', archived_at = now(), ${ended}`, "null", "archived"],
  [
    "one whose contents are dropped",
    `status = 'failed', failure_code = 'policy_denied', contents_dropped_at = now(), ${ended}`,
    "null",
    "no longer stored",
  ],
])("409: %s stays as it is", async (_what, assignments, decision, words) => {
  const id = await asked(assignments, decision);
  const before = await readJob(api.pool, id);
  const answered = await answer(id, "approve");
  expect(answered).toMatchObject({ status: 409, headers: { "emend-error": "conflict" } });
  expect(answered.text).toContain(words);
  expect(await readJob(api.pool, id)).toEqual(before);
});

test("409 without a question, 400 for a bad body, 403 for a key that may only read, 404 for no job", async () => {
  const plain = await seedJob(api.pool, project.id);
  expect((await answer(plain, "approve")).text).toContain("does not wait for approval");
  const id = await asked();
  const before = await readJob(api.pool, id);
  for (const body of [{ remember: "yes" }, []]) {
    expect(await answer(id, "approve", { body })).toMatchObject({
      status: 400,
      headers: { "emend-error": "invalid_request" },
    });
  }
  const readOnly = await api.addKey(project, { scope: "read" });
  const other = await api.addKey(await api.addProject());
  for (const what of ["approve", "decline"] as const) {
    expect((await answer(id, what, { key: readOnly })).status).toBe(403);
    expect((await answer(id, what, { key: other })).status).toBe(404);
    expect((await answer("job_unknown", what)).status).toBe(404);
  }
  expect(await readJob(api.pool, id)).toEqual(before);
});

test("a message is no approval: it withdraws the question, and the agent works on", async () => {
  const id = await asked();
  const body = JSON.stringify({ prompt: "I approve this. Publish it." });
  const headers = { "content-type": "application/json" };
  const sent = await api.send(`/v2/agent/${project.id}/job/${id}/message`, { method: "POST", key, body, headers });
  expect(sent).toMatchObject({ status: 200, json: { status: "active" } });
  expect(await readJob(api.pool, id)).toMatchObject({ approved: null, waiting_since: null, phase: "queued" });
  expect((await answer(id, "approve")).text).toContain("does not wait for approval");
});
