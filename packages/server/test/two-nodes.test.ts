import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { revokeKey } from "../src/accounts/revoke-key.ts";
import { endRun } from "../src/jobs/end-run.ts";
import { setPhase } from "../src/jobs/set-phase.ts";
import { startApi, type TestApi } from "./support/api.ts";
import { openEventSource } from "./support/event-source.ts";
import { startRoundRobin } from "./support/round-robin.ts";
import { alterJob } from "./support/seed-jobs.ts";

// Two nodes on one database behind a proxy that takes turns: each request finds what the one before it wrote elsewhere.
let nodes: TestApi[];
let proxy: Awaited<ReturnType<typeof startRoundRobin>>;
let jobs: string;
let authorization: string;
beforeAll(async () => {
  const first = await startApi({ streams: { heartbeatMs: 100 } });
  nodes = [first, await startApi({ databaseUrl: first.database.url, streams: { heartbeatMs: 100 } })];
  proxy = await startRoundRobin(nodes.map(({ url }) => url));
  const project = await first.addProject();
  jobs = `${proxy.url}/v2/agent/${project.id}/job`;
  authorization = `Bearer ${await first.addKey(project)}`;
});
afterAll(async () => {
  proxy.close();
  for (const node of nodes.toReversed()) await node.close();
});

async function send(url: string, init: RequestInit = {}) {
  const headers = { authorization, connection: "close", ...(init.headers as Record<string, string>) };
  const response = await fetch(url, { ...init, headers });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}
const create = (prompt: string, key?: string) =>
  send(jobs, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key && { "idempotency-key": key }) },
    body: JSON.stringify({ prompt }),
  });
const pool = () => (nodes[0] as TestApi).pool;

test("every route answers the same on whichever node it lands", async () => {
  const { json: job } = await create("One.");
  const url = `${jobs}/${job.id}`;
  for (const _turn of nodes) expect(await send(url)).toMatchObject({ status: 200, json: job });
  for (const _turn of nodes) expect((await send(`${jobs}s?limit=1`)).json).toEqual({ jobs: [job], nextCursor: null });
  for (const _turn of nodes) expect((await send(`${url}/run`)).json).toMatchObject({ id: job.id, phase: "queued" });
  const asJson = { headers: { accept: "application/json" } };
  for (const _turn of nodes) expect((await send(`${url}/diff`, asJson)).json).toEqual({ diff: "", files: [] });
  const cancelled = await send(`${url}/cancel`, { method: "POST" });
  expect(cancelled).toMatchObject({ status: 200, json: { status: "failed" } });
  for (const _turn of nodes) expect(await send(`${url}/cancel`, { method: "POST" })).toEqual(cancelled);
  const message = { method: "POST", headers: { "content-type": "application/json" }, body: '{"prompt":"More."}' };
  expect(await send(`${url}/message`, message)).toMatchObject({ status: 200, json: { status: "active" } });
  for (const _turn of nodes) expect((await send(`${url}/message`, message)).status).toBe(409);
  for (const _turn of nodes) expect((await send(url)).json).toMatchObject({ status: "active" });
  expect((await send(`${url}/cancel`, { method: "POST" })).json).toMatchObject({ status: "failed" });
  const archived = await send(`${url}/archive`, { method: "POST" });
  expect(archived).toMatchObject({ status: 200, json: { status: "archived" } });
  for (const _turn of nodes) expect(await send(`${url}/archive`, { method: "POST" })).toEqual(archived);
  expect(Math.abs((proxy.counts[0] ?? 0) - (proxy.counts[1] ?? 0))).toBeLessThanOrEqual(1);
});

test("a key's replay and a page's cursor hold on the other node", async () => {
  const first = await create("Two.", "a-key");
  const again = await create("Two.", "a-key");
  expect(again.json).toEqual(first.json);
  await create("Three.");
  const page = await send(`${jobs}s?limit=1`);
  const rest = await send(`${jobs}s?cursor=${page.json.nextCursor}`);
  expect(rest.json.jobs).toContainEqual(first.json);
});

test("an event stream is passed on as it happens, and goes on over the other node", async () => {
  const { json: job } = await create("Four.");
  const token = "6f1c1f0e-0000-4000-8000-000000000003";
  const lease = { jobId: String(job.id), token };
  await alterJob(pool(), lease.jobId, `lease = '${token}', lease_until = now() + interval '1 minute'`);
  const events = `${jobs}/${job.id}/events`;
  const one = await openEventSource(events, { authorization });
  expect(await one.next()).toMatchObject({ event: "job.created" });
  await setPhase(pool(), lease, "working");
  let event = await one.next();
  while (event === null) event = await one.next();
  expect(event).toMatchObject({ id: "2" });
  one.close();
  await setPhase(pool(), lease, "checking");
  const two = await openEventSource(events, { authorization, "last-event-id": "2" });
  await endRun(pool(), lease, { kind: "completed", summary: "Done." });
  expect((await two.rest()).map(({ id }) => id)).toEqual(["3", "4"]);
});

test("headers alone are the same on both nodes, for every route that is read, and so is the document", async () => {
  const { json: job } = await create("Five.");
  for (const path of [`/${job.id}`, `/${job.id}/run`, `/${job.id}/diff`, `/${job.id}/events`, "s"]) {
    const seen = [];
    for (const _turn of nodes) {
      const { status, headers } = await fetch(jobs + path, { method: "HEAD", headers: { authorization } });
      seen.push({ status, type: headers.get("content-type"), etag: headers.get("etag") });
    }
    expect(seen[0]).toMatchObject({ status: 200 });
    expect(seen[1]).toEqual(seen[0]);
  }
  for (const path of ["/openapi.json", "/healthz", "/readyz"]) {
    const bodies = [];
    for (const _turn of nodes) bodies.push(await (await fetch(proxy.url + path)).text());
    expect(bodies[1]).toBe(bodies[0]);
  }
});

test("a revoked key is refused by both nodes within a second", async () => {
  const project = await (nodes[0] as TestApi).addProject();
  const key = await (nodes[0] as TestApi).addKey(project, { name: "to be revoked" });
  const url = `${proxy.url}/v2/agent/${project.id}/jobs`;
  const ask = async () => (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
  for (const _turn of nodes) expect(await ask()).toBe(200);
  const { rows } = await pool().query("select id from admin_keys where name = 'to be revoked'");
  await revokeKey(pool(), rows[0].id);
  for (const _turn of nodes) await vi.waitFor(async () => expect(await ask()).toBe(401), { timeout: 1_000 });
});

test("no operation of the document was left out, on either node", () => {
  const operations = Object.entries((nodes[0] as TestApi).document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
  );
  const servers = operations.map(({ method, path }) => {
    const form = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    const passed = proxy.passed.filter((one) => one.method === method && form.test(one.path));
    return { operation: `${method} ${path}`, servers: [...new Set(passed.map(({ server }) => server))].toSorted() };
  });
  expect(servers).toEqual(operations.map(({ method, path }) => ({ operation: `${method} ${path}`, servers: [0, 1] })));
});
