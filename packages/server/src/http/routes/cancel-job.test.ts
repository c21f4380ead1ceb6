import { startApi } from "@emend/testkit/api.ts";
import { alterJob, readEvents, readJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test } from "vitest";
import { channels } from "../../db/listener.ts";
import { setPhase } from "../../jobs/run/end-run.ts";
import { LeaseLost } from "../../jobs/run/leases.ts";

const api = await startApi();
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project);
const token = "6f1c1f0e-0000-4000-8000-000000000001";
const lease = `lease = '${token}', lease_until = clock_timestamp() + interval '1 minute'`;

async function jobWith(assignments: string): Promise<string> {
  const id = await seedJob(api.pool, project.id);
  await alterJob(api.pool, id, assignments);
  return id;
}
function cancel(id: string, request: { key?: string; body?: unknown; headers?: Record<string, string> } = {}) {
  return api.send(`/v2/agent/${project.id}/job/${id}/cancel`, { method: "POST", key, ...request });
}

describe("200", () => {
  test("a queued job fails as cancelled and shows no branch", async () => {
    const id = await jobWith("phase = 'queued'");
    expect((await cancel(id)).json).toMatchObject({ id, status: "failed", prLink: null, source: { ref: null } });
    expect(await readJob(api.pool, id)).toMatchObject({ failure_code: "cancelled", ended_at: expect.any(Date) });
    const { json } = await api.send(`/v2/agent/${project.id}/job/${id}/run`, { key });
    expect(json).toMatchObject({ failure: { code: "cancelled", message: "The job was cancelled." } });
  });

  test("a running job loses its lease, and its worker is notified and can store nothing more", async () => {
    const id = await jobWith(`phase = 'working', ${lease}`);
    const told = Promise.withResolvers<string>();
    const stop = api.listener.on(channels.stopAsked, told.resolve);
    expect((await cancel(id)).json).toMatchObject({ status: "failed" });
    expect(await told.promise).toBe(id);
    stop();
    await expect(setPhase(api.pool, { jobId: id, token }, "checking")).rejects.toBeInstanceOf(LeaseLost);
  });

  test("a follow-up that is cancelled shows its pull request again", async () => {
    const url = "https://github.test/pull/9";
    const id = await jobWith(`pushed = true, pull_request = '{"url": "${url}", "number": 9}'`);
    expect((await cancel(id)).json).toMatchObject({ status: "failed", prLink: url, source: { ref: `emend/${id}` } });
  });

  test("a job that waits for its forge with work to publish is looked for afterwards, until it is retried", async () => {
    const waiting = "phase = 'publishing', commit_id = 'c', waiting_since = now()";
    const [cancelled, archived] = [await jobWith(waiting), await jobWith(waiting)];
    expect((await cancel(cancelled)).json).toMatchObject({ status: "failed", prLink: null });
    await api.send(`/v2/agent/${project.id}/job/${archived}/archive`, { method: "POST", key });
    for (const id of [cancelled, archived]) {
      expect(await readJob(api.pool, id)).toMatchObject({ publication_unsure: true, waiting_since: null });
    }
    await api.send(`/v2/agent/${project.id}/job/${cancelled}/retry`, { method: "POST", key });
    expect(await readJob(api.pool, cancelled)).toMatchObject({ status: "active", publication_unsure: false });
    const others = ["phase = 'queued', waiting_since = now()", `${waiting}, pull_request = '{"number": 9}'`];
    for (const assignments of others) {
      const id = await jobWith(assignments);
      await cancel(id);
      expect(await readJob(api.pool, id)).toMatchObject({ status: "failed", publication_unsure: false });
    }
  });

  test.each(["completed", "failed", "archived"])("a %s job is answered as it is", async (status) => {
    const id = await jobWith(`status = '${status}', ended_at = now()`);
    const before = await readJob(api.pool, id);
    expect((await cancel(id)).json).toMatchObject({ status });
    expect(await readJob(api.pool, id)).toEqual(before);
  });

  test("many at once cancel once, and a body is not read", async () => {
    const id = await jobWith(`phase = 'working', ${lease}`);
    const odd = { body: "{", headers: { "content-type": "nonsense" } };
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(id, odd)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await readEvents(api.pool, id)).map(({ kind }) => kind)).toEqual(["job.created", "failed"]);
  });

  test("a cancelled job reads as cancelled at once on the same node", async () => {
    const id = await jobWith("phase = 'queued'");
    await api.send(`/v2/agent/${project.id}/job/${id}`, { key });
    const { text } = await cancel(id);
    expect((await api.send(`/v2/agent/${project.id}/job/${id}`, { key })).text).toBe(text);
  });
});

test("409 once the job is being published; nothing changes", async () => {
  for (const state of [`phase = 'publishing', commit_id = 'c', ${lease}`, "phase = 'publishing', commit_id = 'c'"]) {
    const id = await jobWith(state);
    const before = await readJob(api.pool, id);
    const answer = await cancel(id);
    expect(answer).toMatchObject({ status: 409, headers: { "emend-error": "conflict", "retry-after": "5" } });
    expect(await readJob(api.pool, id)).toEqual(before);
  }
});

test("404 for an unknown job and for one of another project, which continues", async () => {
  const id = await jobWith("phase = 'queued'");
  const other = await api.addProject();
  const otherKey = await api.addKey(other);
  for (const unknown of ["job_none", "%00", "x".repeat(200)]) expect((await cancel(unknown)).status).toBe(404);
  const answer = await api.send(`/v2/agent/${other.id}/job/${id}/cancel`, { method: "POST", key: otherKey });
  expect(answer.status).toBe(404);
  expect(await readJob(api.pool, id)).toMatchObject({ status: "active" });
});
