import { randomBytes } from "node:crypto";
import { deflateSync } from "node:zlib";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { alterJob, readJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;

beforeAll(async () => {
  host = await startDashboard();
});
afterAll(() => host.close());

const hostile = `<img src=x onerror="alert(1)">"';</script>\u202Eevil`;

async function create(projectId: string, body: unknown = { prompt: "Fix broken links." }) {
  return host.send(`/projects/${projectId}/jobs`, { body });
}

it("201 creates a job as the API does, and shows it as it was written", async () => {
  const { id: projectId } = await host.api.addProject();
  const answer = await create(projectId, { prompt: hostile });
  expect(answer.statusCode).toBe(201);
  const { id } = answer.json();
  expect(await readJob(host.api.pool, id)).toMatchObject({
    prompt: hostile,
    created_by: expect.stringMatching(/^user\//),
  });
  const shown = await host.send(`/jobs/${id}`);
  expect(shown.headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(shown.json()).toMatchObject({ projectId, run: { prompt: hostile, status: "active", phase: "queued" } });
  const { jobs } = (await host.send(`/jobs?project=${projectId}`)).json();
  expect(jobs).toMatchObject([{ id, projectId, prompt: hostile, status: "active", pullRequest: null }]);
});

it.each([
  ["nothing", {}],
  ["an empty prompt", { prompt: "" }],
  ["a number", { prompt: 5 }],
  ["U+0000", { prompt: "a\0b" }],
  ["a model that the project does not allow", { prompt: "x", model: "openai/gpt" }],
  ["JSON that breaks off", '{"prompt":'],
])("400 for %s", async (_what, body) => {
  const { id } = await host.api.addProject();
  const headers = { "content-type": "application/json" };
  expect((await host.send(`/projects/${id}/jobs`, { body, headers })).statusCode).toBe(400);
});

it("404 for an unknown job id, in every form", async () => {
  for (const path of ["/jobs/job_x", "/jobs/%00", "/jobs/job_x/diff", "/jobs/job_x/events"]) {
    expect((await host.send(path)).statusCode).toBe(404);
  }
  expect((await host.send("/jobs/job_x/cancel", { body: {} })).statusCode).toBe(404);
});

it("429 counts creates made here and by key against the one quota", async () => {
  const project = await host.api.addProject({ createsPerHourMax: 2 });
  const key = await host.api.addKey(project);
  expect((await create(project.id)).statusCode).toBe(201);
  const byKey = () => host.api.send(`/v2/agent/${project.id}/job`, { method: "POST", key, body: { prompt: "x" } });
  expect((await byKey()).status).toBe(201);
  const refused = await create(project.id);
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(3000);
  expect((await byKey()).status).toBe(429);
  const { projects } = (await host.send("/projects")).json();
  expect(projects.find((each: { id: string }) => each.id === project.id)).toMatchObject({ createsThisHour: 2 });
});

it("lists by page, status, project and words, and hides archived jobs until they are asked for", async () => {
  const { id: projectId } = await host.api.addProject();
  const ids: string[] = [];
  for (let index = 0; index < 51; index += 1)
    ids.push((await create(projectId, { prompt: `Page 100%_${index}` })).json().id);
  const first = (await host.send(`/jobs?project=${projectId}`)).json();
  expect(first.jobs.map((job: { id: string }) => job.id)).toEqual(ids.toReversed().slice(0, 50));
  const second = (await host.send(`/jobs?project=${projectId}&cursor=${first.nextCursor}`)).json();
  expect(second).toMatchObject({ jobs: [{ id: ids[0] }], nextCursor: null });

  const found = async (query: string) =>
    (await host.send(`/jobs?project=${projectId}&${query}`)).json().jobs.map((job: { id: string }) => job.id);
  expect(await found("search=100%25_7")).toEqual([ids[7]]);
  expect(await found(`search=${ids[3]}`)).toEqual([ids[3]]);
  expect(await found(`search=${ids[3]?.slice(0, -1)}`)).toContain(ids[3]);
  expect(await found("search=job_")).toEqual([]);
  await host.send(`/jobs/${ids[50]}/archive`, { body: {} });
  expect(await found("status=archived")).toEqual([ids[50]]);
  expect(await found("")).not.toContain(ids[50]);
  for (const query of ["status=done", "cursor=%00", `search=${"x".repeat(201)}`]) {
    expect((await host.send(`/jobs?${query}`)).statusCode).toBe(400);
  }
});

it("200 cancels; 409 once the job is being published", async () => {
  const { id: projectId } = await host.api.addProject();
  const { id } = (await create(projectId)).json();
  expect((await host.send(`/jobs/${id}/cancel`, { body: {} })).statusCode).toBe(200);
  expect((await host.send(`/jobs/${id}`)).json().run).toMatchObject({
    status: "failed",
    failure: { code: "cancelled" },
  });
  const late = (await create(projectId)).json().id;
  await alterJob(host.api.pool, late, "phase = 'publishing', commit_id = 'c'");
  for (const action of ["cancel", "archive"]) {
    expect((await host.send(`/jobs/${late}/${action}`, { body: {} })).statusCode).toBe(409);
  }
});

it("streams events to their end, and 204 once the browser has seen them all", async () => {
  const { id: projectId } = await host.api.addProject();
  const { id } = (await create(projectId)).json();
  const streaming = host.send(`/jobs/${id}/events`);
  await host.send(`/jobs/${id}/cancel`, { body: {} });
  const events = (await streaming).body;
  expect(events).toMatch(/id: 1\nevent: job.created\n[\s\S]*id: 2\nevent: failed\n/);
  const again = await host.send(`/jobs/${id}/events`, { headers: { "last-event-id": "2" } });
  expect(again.statusCode).toBe(204);
  expect((await host.send(`/jobs/${id}/events`, { headers: { "last-event-id": "-1" } })).statusCode).toBe(400);
});

it("429 for a large diff while the same person reads several", async () => {
  const { id: projectId } = await host.api.addProject();
  const { id } = (await create(projectId)).json();
  await host.api.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(randomBytes(3_000_000))]);
  const answers = await Promise.all(Array.from({ length: 12 }, () => host.send(`/jobs/${id}/diff`)));
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect((await host.send(`/jobs/${id}/diff`)).statusCode).toBe(200);
});

it("gives a job's diff with its figures", async () => {
  const { id: projectId } = await host.api.addProject();
  const { id } = (await create(projectId)).json();
  const diff = "diff --git a/a.md b/a.md\n--- a/a.md\n+++ b/a.md\n@@ -1 +1 @@\n-one\n+two\n";
  await host.api.pool.query("update jobs set diff = $2 where id = $1", [id, deflateSync(diff)]);
  expect((await host.send(`/jobs/${id}/diff`)).json()).toEqual({
    diff,
    files: [{ path: "a.md", change: "modified", additions: 1, deletions: 1 }],
  });
});
