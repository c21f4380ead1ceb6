import { setTimeout } from "node:timers/promises";
import { startApi } from "@emend/testkit/api.ts";
import { readEvents, readJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, describe, expect, test } from "vitest";
import { channels } from "../../db/listener.ts";

const api = await startApi({ publishingWaitMs: 1500 });
afterAll(() => api.close());
const project = await api.addProject({ createsPerHourMax: 1000 });
const jobs = `/v2/agent/${project.id}/job`;
const key = await api.addKey(project);
const lease = "lease = gen_random_uuid(), lease_until = clock_timestamp() + interval '1 minute'";

async function jobWith(assignments: string): Promise<string> {
  const { json } = await api.send(jobs, { method: "POST", key, body: { prompt: "x" } });
  const { id } = json as { id: string };
  await change(id, assignments);
  return id;
}

async function change(id: string, assignments: string): Promise<void> {
  await api.pool.query(
    `with changed as (update jobs set ${assignments} where id = $1 returning id)
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [id],
  );
}

function archive(id: string, request: { key?: string; body?: unknown; headers?: Record<string, string> } = {}) {
  return api.send(`${jobs}/${id}/archive`, { method: "POST", key, ...request });
}

describe("200", () => {
  test.each([
    ["completed", "status = 'completed', pushed = true, pr_link = 'https://github.test/pull/7', ended_at = now()"],
    ["failed", "status = 'failed', ref = null, failure_code = 'timeout', ended_at = now()"],
  ])("a %s job keeps its link and its branch", async (_status, assignments) => {
    const id = await jobWith(assignments);
    const before = await readJob(api.pool, id);
    const answer = await archive(id);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id, status: "archived", prLink: before.pr_link, source: { ref: before.ref } });
    const { archivedAt } = answer.json as { archivedAt: string };
    expect(Math.abs(Date.parse(archivedAt) - Date.now())).toBeLessThan(60_000);
    expect(await readJob(api.pool, id)).toMatchObject({ ended_at: before.ended_at, failure_code: before.failure_code });
  });

  test("archiving again changes nothing", async () => {
    const id = await jobWith("status = 'completed'");
    const first = await archive(id);
    const again = await archive(id);
    expect(again.text).toBe(first.text);
    expect((await readEvents(api.pool, id)).map(({ kind }) => kind)).toEqual(["job.created", "archived"]);
  });

  test("an archived job reads as archived at once on the same node", async () => {
    const id = await jobWith("status = 'completed'");
    await api.send(`${jobs}/${id}`, { key });
    const archived = await archive(id);
    expect((await api.send(`${jobs}/${id}`, { key })).text).toBe(archived.text);
  });

  test("a queued job ends at once and shows no branch", async () => {
    const id = await jobWith("phase = 'queued'");
    expect((await archive(id)).json).toMatchObject({ status: "archived", source: { ref: null }, prLink: null });
    expect((await readJob(api.pool, id)).ended_at).not.toBeNull();
  });

  test("a running job loses its lease, and its worker is notified", async () => {
    const id = await jobWith(`phase = 'working', ${lease}`);
    const told = Promise.withResolvers<string>();
    const stop = api.listener.on(channels.stopAsked, told.resolve);
    expect((await archive(id)).json).toMatchObject({ status: "archived", source: { ref: null } });
    expect(await readJob(api.pool, id)).toMatchObject({ lease: null, lease_until: null, status: "archived" });
    expect(await told.promise).toBe(id);
    stop();
  });

  test("a job that is being published is archived with its outcome", async () => {
    const id = await jobWith(`phase = 'publishing', commit_id = 'c', pushed = true, ${lease}`);
    const answer = archive(id);
    expect(await Promise.race([answer, setTimeout(300, "held")])).toBe("held");
    await change(id, "status = 'completed', lease = null, lease_until = null, pr_link = 'https://github.test/pull/8'");
    expect(await answer).toMatchObject({
      status: 200,
      json: { status: "archived", prLink: "https://github.test/pull/8", source: { ref: `emend/${id}` } },
    });
  });

  test("the body is not read", async () => {
    const id = await jobWith("status = 'completed'");
    for (const type of ["application/json", "text/plain", "nonsense", ""]) {
      expect((await archive(id, { body: "{", headers: { "content-type": type } })).status).toBe(200);
    }
    expect((await archive(id, { body: Buffer.alloc(3_000_000) })).status).toBe(200);
  });

  test("many at once archive once", async () => {
    const id = await jobWith(`phase = 'working', ${lease}`);
    const answers = await Promise.all(Array.from({ length: 10 }, () => archive(id)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await readEvents(api.pool, id)).length).toBe(2);
  });
});

describe("409", () => {
  test.each([
    ["with a lease", lease],
    ["whose worker was lost", "phase = 'publishing'"],
  ])("a job that is still being published when the time is up, %s; nothing changes", async (_name, more) => {
    const id = await jobWith(`phase = 'publishing', commit_id = 'c'`);
    await change(id, more);
    const before = await readJob(api.pool, id);
    const answer = await archive(id);
    expect(answer.status).toBe(409);
    expect(answer.headers).toMatchObject({ "emend-error": "conflict", "retry-after": "5" });
    expect(await readJob(api.pool, id)).toEqual(before);
  });
});

describe("404, 403, 401", () => {
  test("404 for an unknown job and for one of another project", async () => {
    const other = await api.addProject();
    const otherKey = await api.addKey(other);
    const id = await jobWith("status = 'completed'");
    expect((await archive("job_none")).status).toBe(404);
    expect((await archive("%00")).status).toBe(404);
    expect((await api.send(`/v2/agent/${other.id}/job/${id}/archive`, { method: "POST", key: otherKey })).status).toBe(
      404,
    );
    expect((await archive(id, { key: otherKey })).status).toBe(404);
    expect(await readJob(api.pool, id)).toMatchObject({ status: "completed" });
  });

  test("403 for a read-only key", async () => {
    const id = await jobWith("status = 'completed'");
    expect((await archive(id, { key: await api.addKey(project, { scope: "read" }) })).status).toBe(403);
    expect(await readJob(api.pool, id)).toMatchObject({ status: "completed" });
  });

  test("401 without a key", async () => {
    expect((await archive("job_none", { key: "" })).status).toBe(401);
  });
});
