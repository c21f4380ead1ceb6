import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;
beforeAll(async () => {
  host = await startDashboard();
});
afterAll(() => host.close());

const remove = (id: string, body: object) => host.send(`/projects/${id}/remove`, { body });
const nameOf = async (id: string) =>
  (await host.api.pool.query<{ name: string }>("select name from projects where id = $1", [id])).rows[0]?.name;

it("takes the project away with all that was known of it, and keeps the audit log", async () => {
  const project = await host.api.addProject();
  const { id } = project;
  const key = await host.api.addKey(project);
  const { pool } = host.api;
  const jobId = await seedJob(pool, id);
  await pool.query("update jobs set status = 'completed', ended_at = now() where id = $1", [jobId]);
  await pool.query("insert into quota_uses (project_id, kind, used_at) values ($1, 'create', now())", [id]);
  await host.send(`/projects/${id}/automations`, { body: { name: "x", prompt: "y", trigger: { kind: "manual" } } });
  const path = `/v2/agent/${id}/job/${jobId}`;
  expect((await host.api.send(path, { key })).status).toBe(200);

  expect((await remove(id, { name: await nameOf(id) })).statusCode).toBe(200);
  expect(await nameOf(id)).toBeUndefined();
  // Also removed from every node's cache.
  await expect.poll(async () => (await host.api.send(path, { key })).status).toBe(404);
  expect((await host.send(`/jobs/${jobId}`)).statusCode).toBe(404);
  const { rows } = await pool.query("select action, actor from audit_log where target = $1", [id]);
  expect(rows).toContainEqual({ action: "project.removed", actor: "console" });
  expect(rows).toContainEqual({ action: "automation.added", actor: "console" });
});

it("409 while a job is at work, 400 for another name, 404 for none: nothing is removed", async () => {
  const { id } = await host.api.addProject();
  const name = await nameOf(id);
  const jobId = await seedJob(host.api.pool, id);
  expect((await remove(id, { name: `${name} ` })).statusCode).toBe(400);
  expect((await remove(id, {})).statusCode).toBe(400);
  const refused = await remove(id, { name });
  expect([refused.statusCode, refused.json().error]).toEqual([409, expect.stringContaining("One job")]);
  expect((await remove("prj_none", { name })).statusCode).toBe(404);
  expect((await host.send(`/jobs/${jobId}`)).statusCode).toBe(200);
});
