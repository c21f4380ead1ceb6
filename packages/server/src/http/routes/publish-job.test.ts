import { startApi } from "@emend/testkit/api.ts";
import { alterJob, readEvents, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, expect, test } from "vitest";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project);

async function preview(assignments = "status = 'completed'"): Promise<string> {
  const id = await seedJob(api.pool, project.id);
  await alterJob(api.pool, id, "status = 'completed', preview = true, ended_at = now()");
  await api.pool.query("insert into overlay (job_id, path, mode, deleted) values ($1, 'a.md', '100644', true)", [id]);
  await alterJob(api.pool, id, assignments);
  return id;
}
const publish = (id: string, more: { key?: string } = {}) =>
  api.send(`/v2/agent/${project.id}/job/${id}/publish`, { method: "POST", key, ...more });

test("200: a completed preview is active again, once, and is no preview any more", async () => {
  const id = await preview();
  for (const _turn of [1, 2]) {
    expect(await publish(id)).toMatchObject({ status: 200, json: { id, status: "active", prLink: null } });
  }
  expect(await readJob(api.pool, id)).toMatchObject({ phase: "queued", preview: false, publishes_preview: true });
  expect((await readEvents(api.pool, id)).filter(({ kind }) => kind === "phase")).toHaveLength(1);
  await alterJob(api.pool, id, "status = 'completed'");
  expect((await publish(id)).json).toMatchObject({ status: "completed" });
});

test.each([
  ["an ordinary job", "preview = false", "not a preview"],
  ["an active one", "status = 'active', ended_at = null", "still active"],
  ["a failed one", "status = 'failed', failure_code = 'timeout'", "failed"],
  ["one whose publication failed", "status = 'failed', preview = false, publishes_preview = true", "failed"],
  ["an archived one", "status = 'archived', archived_at = now()", "archived"],
  ["one whose contents are dropped", "contents_dropped_at = now()", "no longer stored"],
])("409: %s stays as it is", async (_what, assignments, words) => {
  const id = await preview(assignments);
  const before = await readJob(api.pool, id);
  const answer = await publish(id);
  expect(answer).toMatchObject({ status: 409, headers: { "emend-error": "conflict" } });
  expect(answer.text).toContain(words);
  expect(await readJob(api.pool, id)).toEqual(before);
});

test("409: a preview without changes, and 403 for a key that may only read, 404 for no job", async () => {
  const id = await preview();
  const readOnly = await api.addKey(project, { scope: "read" });
  expect((await publish(id, { key: readOnly })).status).toBe(403);
  await api.pool.query("delete from overlay");
  expect((await publish(id)).text).toContain("nothing to publish");
  expect((await publish("job_unknown")).status).toBe(404);
});
