import { startApi } from "@emend/testkit/api.ts";
import { alterJob, readEvents, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test } from "vitest";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project);

async function failedJob(assignments: string): Promise<string> {
  const id = await seedJob(api.pool, project.id);
  await alterJob(api.pool, id, "status = 'failed', ended_at = now(), crashes = 3, retries = 5");
  await alterJob(api.pool, id, assignments);
  return id;
}
const retry = (id: string, more: { key?: string } = {}) =>
  api.send(`/v2/agent/${project.id}/job/${id}/retry`, { method: "POST", key, ...more });

describe("200", () => {
  test("a job with a stored commit continues to publish after any failure", async () => {
    for (const code of ["forge_unavailable", "forge_rejected", "internal", "branch_conflict", "cancelled"]) {
      const id = await failedJob(`failure_code = '${code}', commit_id = 'c', tree_id = 't', phase = 'publishing'`);
      const before = await api.send(`/v2/agent/${project.id}/job/${id}/run`, { key });
      expect(before.json).toMatchObject({ isRetryable: true, waiting: null, notices: [] });
      expect(await retry(id)).toMatchObject({ status: 200, json: { id, status: "active", prLink: null } });
      expect(await readJob(api.pool, id)).toMatchObject({
        phase: "publishing",
        failure_code: null,
        ended_at: null,
        crashes: 0,
        retries: 0,
      });
      // No worker claims it in this test: it stays active, and a second retry changes nothing.
      expect(await retry(id)).toMatchObject({ status: 200, json: { status: "active" } });
      expect((await readEvents(api.pool, id)).map(({ kind }) => kind)).toEqual(["job.created", "phase"]);
    }
  });

  test("a job that failed for a temporary reason continues from its stored steps", async () => {
    const id = await failedJob("failure_code = 'model_unavailable'");
    expect((await retry(id)).json).toMatchObject({ status: "active", source: { ref: `emend/${id}` } });
    expect(await readJob(api.pool, id)).toMatchObject({ phase: "queued", ref: `emend/${id}` });
  });
});

describe("409", () => {
  test.each([
    ["a denied job", "failure_code = 'policy_denied'", "follow-up"],
    ["one that was not understood", "failure_code = 'instruction_not_understood'", "follow-up"],
    ["one whose draft is open", "failure_code = 'timeout', limit_reached = 'timeout', commit_id = 'c'", "follow-up"],
    ["one whose contents are dropped", "failure_code = 'internal', contents_dropped_at = now()", "no longer stored"],
    ["a completed job", "status = 'completed'", "completed"],
    ["an archived job", "status = 'archived', archived_at = now()", "archived"],
  ])("%s stays as it is", async (_what, assignments, words) => {
    const id = await failedJob(assignments);
    const before = await readJob(api.pool, id);
    const answer = await retry(id);
    expect(answer).toMatchObject({ status: 409, headers: { "emend-error": "conflict" } });
    expect(answer.text).toContain(words);
    expect(await readJob(api.pool, id)).toEqual(before);
  });
});

test("403 for a key that may only read, 404 for an unknown job and for another project's", async () => {
  const id = await failedJob("failure_code = 'internal'");
  const reading = await api.addKey(project, { scope: "read" });
  expect((await retry(id, { key: reading })).status).toBe(403);
  expect((await retry("job_none")).status).toBe(404);
  const other = await api.addProject();
  const foreign = await api.addKey(other);
  const answer = await api.send(`/v2/agent/${other.id}/job/${id}/retry`, { method: "POST", key: foreign });
  expect(answer.status).toBe(404);
  expect(await readJob(api.pool, id)).toMatchObject({ status: "failed" });
});
