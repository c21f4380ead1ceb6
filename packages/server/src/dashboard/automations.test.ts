import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;
let project: string;
beforeAll(async () => {
  host = await startDashboard();
  project = (await host.api.addProject()).id;
});
afterAll(() => host.close());

const cron = { kind: "cron", expression: "0 9 * * 1", timezone: "Europe/Berlin" };

it("adds an automation, runs it, pauses, resumes and removes it", async () => {
  const path = `/projects/${project}/automations`;
  const added = await host.send(path, { body: { name: "Links", prompt: "Fix broken links.", trigger: cron } });
  expect(added.statusCode).toBe(201);
  const { id } = added.json();
  expect((await host.send(path)).json()).toMatchObject({ automations: [{ id, name: "Links", trigger: cron }] });
  const run = await host.send(`/automations/${id}/run`, { body: {} });
  expect(run.json()).toMatchObject({ state: "started", words: expect.stringContaining("Started job") });
  const shown = (await host.send(`/automations/${id}`)).json();
  expect(shown).toMatchObject({ automation: { id, jobId: run.json().jobId }, runs: [{ state: "started" }] });
  // The webhook secret is shown only on the console.
  expect(shown).not.toHaveProperty("hook");
  expect((await host.send(`/automations/${id}/pause`, { body: {} })).json().pausedAt).not.toBeNull();
  expect((await host.send(`/automations/${id}/resume`, { body: {} })).json().pausedAt).toBeNull();
  expect((await host.send(`/automations/${id}/remove`, { body: {} })).statusCode).toBe(200);
  expect((await host.send(`/automations/${id}`)).statusCode).toBe(404);
  const { rows } = await host.api.pool.query(
    "select action, actor, target from audit_log where action like 'automation.%' order by id",
  );
  const by = { actor: "console", target: project };
  expect(rows).toEqual(
    ["added", "paused", "resumed", "removed"].map((what) => ({ action: `automation.${what}`, ...by })),
  );
});

it("edits one: omitted fields stay, and a new trigger starts fresh", async () => {
  const path = `/projects/${project}/automations`;
  const { id, dueAt } = (
    await host.send(path, { body: { name: "Edited", prompt: "Fix broken links.", trigger: cron } })
  ).json();
  await host.send(path, { body: { name: "Taken", prompt: "Do it.", trigger: { kind: "manual" } } });
  const edit = (body: object) => host.send(`/automations/${id}`, { method: "PATCH", body });
  const renamed = (await edit({ name: "Renamed", prompt: "Do it by {{date}}." })).json();
  expect(renamed).toMatchObject({ id, name: "Renamed", prompt: "Do it by {{date}}.", trigger: cron, dueAt });
  expect((await edit({ trigger: { kind: "manual" } })).json()).toMatchObject({
    trigger: { kind: "manual" },
    dueAt: null,
  });
  expect((await edit({ name: "Taken" })).statusCode).toBe(409);
  for (const wrong of [{ name: "" }, { prompt: "{{tag}}" }, { model: "openai/none" }]) {
    expect((await edit(wrong)).statusCode).toBe(400);
  }
  expect((await host.send("/automations/aut_none", { method: "PATCH", body: { name: "x" } })).statusCode).toBe(404);
  expect((await host.send(`/automations/${id}`)).json().automation).toMatchObject({ name: "Renamed", model: null });
  const { rows } = await host.api.pool.query("select actor from audit_log where action = 'automation.changed'");
  expect(rows).toEqual([{ actor: "console" }, { actor: "console" }]);
});

it("writes down who let jobs read a repository", async () => {
  await host.api.pool.query(
    "insert into context_repositories (id, project_id, name, forge, repository_url) values ('ctx_1', $1, 'api', 'github', 'https://github.test/a/b')",
    [project],
  );
  await host.send(`/projects/${project}/context/remove`, { body: { name: "api" } });
  const { rows } = await host.api.pool.query(
    "select action, actor, address is not null as from_browser from audit_log where action like 'context.%' order by id",
  );
  expect(rows).toEqual([
    { action: "context.added", actor: "system", from_browser: false },
    { action: "context.removed", actor: "console", from_browser: true },
  ]);
});

it.each([
  [{ name: "x", prompt: "Do it." }],
  [{ name: "x", prompt: "Do {{this}}.", trigger: { kind: "manual" } }],
  [{ name: "x", prompt: "Do it.", trigger: { ...cron, expression: "often" } }],
  [{ name: "x", prompt: "Do it.", trigger: { ...cron, timezone: "Mars" } }],
  [{ name: "x", prompt: "Do it.", trigger: { kind: "push", repository: "api", branches: [], tags: [], include: [] } }],
  [{ name: "", prompt: "Do it.", trigger: { kind: "manual" } }],
  [{ name: "x", prompt: "Do it.", trigger: { kind: "manual" }, model: "openai/none" }],
])("400 with words: %j", async (body) => {
  const answer = await host.send(`/projects/${project}/automations`, { body });
  expect([answer.statusCode, answer.json()]).toEqual([400, { error: expect.any(String) }]);
});

it("404 for what is not there", async () => {
  expect((await host.send("/projects/prj_none/automations")).statusCode).toBe(404);
  for (const action of ["run", "pause", "resume", "remove"]) {
    expect((await host.send(`/automations/aut_none/${action}`, { body: {} })).statusCode).toBe(404);
  }
});
