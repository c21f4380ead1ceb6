import { operations, parametersOf } from "@emend/contract";
import { type DashboardApi, startDashboard } from "@emend/testkit/dashboard.ts";
import { afterAll, beforeAll, expect, it } from "vitest";

let host: DashboardApi;
let projectId: string;
const keys: Record<string, string> = {};
beforeAll(async () => {
  host = await startDashboard();
  const [project, other] = [await host.api.addProject(), await host.api.addProject()];
  projectId = project.id;
  for (const scope of ["read", "write", "manage"] as const) keys[scope] = await host.api.addKey(project, { scope });
  keys.foreign = await host.api.addKey(other, { scope: "manage" });
});
afterAll(() => host.close());

const all = Object.entries(operations);
const sendAs = (key: string | undefined, { method, path }: (typeof all)[number][1], id = "whk_1", body = {}) =>
  host.api.send(`/v2${path.replace(":projectId", projectId).replace(":id", id)}`, {
    method,
    headers: { ...(key && { authorization: `Bearer ${key}` }), "content-type": "application/json" },
    ...(method !== "GET" && { body: JSON.stringify(body) }),
  });

it.each(all)("%s takes the scope and the role of its row, and nothing else", async (name, row) => {
  const isReading = row.access === "viewer";
  expect((await sendAs(undefined, row)).status).toBe(401);
  for (const scope of ["read", "write"])
    expect((await sendAs(keys[scope], row)).status === 403, scope).toBe(!isReading);
  expect([200, 400, 404]).toContain((await sendAs(keys.manage, row)).status);
  if (row.path.includes(":projectId"))
    expect((await sendAs(keys.foreign, row, "whk_1", { url: "https://example.com/" })).status).toBe(404);
  for (const role of ["viewer", "maintainer"] as const) {
    const { cookie } = await host.addMember(role);
    const answer = await host.send(`/operations/${name}`, { cookie, body: { projectId, id: "whk_1" } });
    expect(answer.statusCode === 403, role).toBe(role === "viewer" && !isReading);
  }
});

it("a key that may manage does with its project's webhooks what a maintainer does, in its own name", async () => {
  const input = { url: "https://hooks.example.com/in", projectId: "prj_other" };
  const added = await sendAs(keys.manage, operations["webhooks.add"], "", input);
  const { id } = JSON.parse(added.text);
  const listed = JSON.parse((await sendAs(keys.read, operations["webhooks.list"])).text);
  expect(listed.webhooks).toMatchObject([{ id, projectId, format: "standard" }]);
  for (const [name, row] of all.filter(([, { path }]) => path.startsWith("/webhooks/:id"))) {
    expect((await sendAs(keys.foreign, row, id)).status, name).toBe(404);
  }
  expect((await sendAs(keys.manage, operations["webhooks.test"], id)).status).toBe(200);
  const { deliveries } = JSON.parse((await sendAs(keys.read, operations["deliveries.list"], id)).text);
  expect(deliveries).toMatchObject([{ event: "webhook.test", state: "pending" }]);
  expect((await sendAs(keys.foreign, operations["deliveries.redeliver"], deliveries[0].id)).status).toBe(404);
  expect((await sendAs(keys.manage, operations["deliveries.redeliver"], deliveries[0].id)).status).toBe(200);
  expect((await sendAs(keys.manage, operations["webhooks.remove"], id)).status).toBe(200);
  const { rows } = await host.api.pool.query("select actor, action from audit_log where target = $1 order by id", [id]);
  expect(rows.map(({ actor, action }) => [actor.split("/", 1)[0], action])).toEqual([
    ["key", "webhook.added"],
    ["key", "webhook.removed"],
  ]);
});

it("every path's parameters are fields of the input", () => {
  for (const [name, row] of all) {
    for (const parameter of parametersOf(row)) expect(Object.keys(row.input.properties), name).toContain(parameter);
  }
});
