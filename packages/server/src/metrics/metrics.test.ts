import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Model } from "@emend/agent";
import { createLogger } from "@emend/base/logger.ts";
import { startApi } from "@emend/testkit/api.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { alterJob, seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, afterEach, expect, test } from "vitest";
import { createPool } from "../db/pool.ts";
import { createDisk } from "../lib/disk.ts";
import {
  measureDisk,
  measureFetch,
  measureMirrors,
  measureModel,
  measureQueue,
  measureRequests,
  routeOf,
} from "./measure.ts";
import { createMetrics, metricsPlugin, startMetricsServer } from "./metrics.ts";

const log = createLogger({ level: "silent" });
const metrics = createMetrics();
const api = await startApi({ plugins: [metricsPlugin({ metrics, token: "a metrics token" })] });
afterAll(() => api.close());
const project = await api.addProject();
const key = await api.addKey(project);
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0)) await step();
});

/** The values of one metric, by its labels. */
async function values(name: string, of = metrics): Promise<Record<string, number>> {
  const lines = (await of.registry.metrics()).split("\n").filter((line) => new RegExp(`^${name}[ {]`).test(line));
  return Object.fromEntries(
    lines.map((line) => [line.slice(name.length, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

test("only counters are named like counters, as promtool asks", async () => {
  const kinds = [...(await metrics.registry.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)];
  expect(kinds.length).toBeGreaterThan(20);
  expect(kinds.filter(([, name, kind]) => name?.endsWith("_total") && kind !== "counter")).toEqual([]);
  expect(kinds.filter(([, name, kind]) => !name?.endsWith("_total") && kind === "counter")).toEqual([]);
});

test("requests are counted by route, and odd ones together", async () => {
  undo.push(measureRequests({ metrics, log }, api.app.server));
  const { json } = await api.send(`/v2/agent/${project.id}/job`, { method: "POST", key, body: { prompt: "x" } });
  const { id } = json as { id: string };
  for (const path of ["", "/run", "/run"]) await api.send(`/v2/agent/${project.id}/job/${id}${path}`, { key });
  for (const path of ["/x", "/y/z", "/v2/agent/a/b/c", "/v2/agent/a/job/b/c"]) await fetch(`${api.url}${path}`);
  const counted = async () => values("emend_http_requests_total");
  await expect.poll(counted).toMatchObject({ '{method="GET",route="other",status="401"}': 2 });
  expect(await counted()).toEqual({
    '{method="POST",route="/v2/agent/:projectId/job",status="201"}': 1,
    '{method="GET",route="/v2/agent/:projectId/job/:id",status="200"}': 1,
    '{method="GET",route="/v2/agent/:projectId/job/:id/run",status="200"}': 2,
    '{method="GET",route="other",status="404"}': 2,
    '{method="GET",route="other",status="401"}': 2,
  });
});

test.each([
  ["/v2/agent/p/jobs?limit=5", "/v2/agent/:projectId/jobs"],
  ["/v2/agent/p/claims/clm_1", "/v2/agent/:projectId/claims/:id"],
  ["/v2/agent/p/automations/a/run", "/v2/agent/:projectId/automations/:id/*"],
  ["/v2/agent/p/gates", "/v2/agent/:projectId/gates"],
  ["/v2/agent/p/health", "/v2/agent/:projectId/health"],
])("%s is counted as %s", (path, route) => {
  expect(routeOf(path)).toEqual({ route, projectId: "p" });
});

test("a request is logged with its ids, the caller's own where it is usable, and never with its query or key", async () => {
  const lines: Record<string, unknown>[] = [];
  const spy = {
    isLevelEnabled: () => true,
    info: (line: Record<string, unknown>) => lines.push(line),
    debug: (line: Record<string, unknown>) => lines.push(line),
  } as unknown as typeof log;
  undo.push(measureRequests({ metrics, log: spy }, api.app.server));
  const path = `/v2/agent/${project.id}/job/job_none/run?secret=word`;
  await api.send(path, { key, headers: { "x-request-id": "caller-1" } });
  await api.send(path, { key, headers: { "x-request-id": "not usable\t" } });
  await expect.poll(() => lines).toHaveLength(2);
  expect(lines[0]).toMatchObject({ requestId: "caller-1", projectId: project.id, jobId: "job_none", status: 404 });
  expect(lines[1]?.requestId).toMatch(/^req_/);
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`word|${key}`));
});

test("a request that makes a job is logged with the job's id", async () => {
  const lines: Record<string, unknown>[] = [];
  const spy = {
    isLevelEnabled: () => true,
    info: (line: Record<string, unknown>) => lines.push(line),
    debug: () => {},
  } as unknown as typeof log;
  undo.push(measureRequests({ metrics, log: spy }, api.app.server));
  const headers = { "x-request-id": "caller-2" };
  const made = await api.send(`/v2/agent/${project.id}/job`, { method: "POST", key, headers, body: { prompt: "x" } });
  const { id } = made.json as { id: string };
  await expect.poll(() => lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ requestId: "caller-2", projectId: project.id, jobId: id, status: 201 });
});

test("the queue's depth and age are read when asked for; without the database the rest is still there", async () => {
  const proxy = await startDatabaseProxy(api.database.url);
  const pool = createPool({ url: proxy.url, connectionsMax: 2, log });
  undo.push(
    () => pool.end(),
    () => proxy.close(),
  );
  const own = createMetrics();
  measureQueue(own, pool);
  await api.pool.query("update jobs set status = 'failed'");
  const ids = [await seedJob(api.pool, project.id), await seedJob(api.pool, project.id)];
  await alterJob(api.pool, ids[0] as string, "run_after = now() - interval '100 seconds'");
  expect(await values("emend_queue_waiting", own)).toEqual({ "": 2 });
  expect((await values("emend_queue_oldest_seconds", own))[""]).toBeGreaterThanOrEqual(100);
  proxy.cut();
  await proxy.close();
  const text = await own.registry.metrics();
  expect(text).toContain("process_cpu_seconds_total");
  expect(await values("emend_queue_waiting", own)).toEqual({});
});

test("requests to other hosts are counted by host and status, unanswered ones included", async () => {
  const far = createServer((_request, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(far.address() as AddressInfo).port}/`;
  const init = { method: "GET", headers: {}, redirect: "manual" as const, signal: AbortSignal.timeout(5000) };
  const measured = measureFetch(metrics, fetch as never);
  await measured(url, init);
  far.closeAllConnections();
  await new Promise((resolve) => far.close(resolve));
  await expect(measured(url, init)).rejects.toThrow();
  const { host } = new URL(url);
  expect(await values("emend_far_requests_total")).toEqual({
    [`{host="${host}",status="503"}`]: 1,
    [`{host="${host}",status="0"}`]: 1,
  });
});

test("a model's turns, tokens and cost are counted", async () => {
  const usage = { model: "m", inputTokens: 10, outputTokens: 4, cachedInputTokens: 3, costUsd: 0.5 };
  let fails = false;
  const model: Model = {
    name: "acme/one",
    nature: "language",
    async nextTurn() {
      if (fails) throw new Error("away");
      return { text: "", toolCalls: [], usage };
    },
  };
  const measured = measureModel(metrics, model);
  const input = { system: "", messages: [], tools: [] };
  await measured.nextTurn(input, new AbortController().signal);
  fails = true;
  await expect(measured.nextTurn(input, new AbortController().signal)).rejects.toThrow("away");
  expect(await values("emend_model_tokens_total")).toEqual({
    '{model="acme/one",kind="input"}': 10,
    '{model="acme/one",kind="output"}': 4,
    '{model="acme/one",kind="cached"}': 3,
  });
  expect(await values("emend_model_turns_total")).toEqual({
    '{model="acme/one",outcome="answered"}': 1,
    '{model="acme/one",outcome="failed"}': 1,
  });
  expect(await values("emend_model_cost_usd_total")).toEqual({ '{model="acme/one"}': 0.5 });
});

test("a node without mirrors has none", async () => {
  measureMirrors(metrics, "/nowhere");
  measureDisk(metrics, createDisk({ dirs: ["/nowhere"], reserveBytes: 0 }));
  expect(await values("emend_mirrors")).toEqual({ "": 0 });
  expect(await values("emend_mirrors_bytes")).toEqual({ "": 0 });
});

test("on the interface's port a token is asked for; on a port of its own only where one is set", async () => {
  const get = (url: string, token?: string) =>
    fetch(url, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } });
  for (const wrong of [undefined, "", "a metrics toke", "A metrics token", key]) {
    expect((await get(`${api.url}/metrics`, wrong)).status).toBe(401);
  }
  const answer = await get(`${api.url}/metrics`, "a metrics token");
  expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(await answer.text()).toContain("# TYPE emend_http_requests_total counter");
  for (const [token, expected] of [
    [null, 200],
    ["word", 401],
  ] as const) {
    const server = await startMetricsServer({ metrics, token }, { host: "127.0.0.1", port: 0 });
    undo.push(() => server.close());
    expect((await get(`http://127.0.0.1:${server.port}/metrics`)).status).toBe(expected);
    expect((await get(`http://127.0.0.1:${server.port}/else`)).status).toBe(404);
    expect((await get(`http://127.0.0.1:${server.port}/healthz`)).status, "a worker's probe has no token").toBe(200);
  }
});

test("the dashboard and the page for operators name metrics that there are", async () => {
  const own = createMetrics();
  measureQueue(own, api.pool);
  measureMirrors(own, "/nowhere");
  measureDisk(own, createDisk({ dirs: ["/nowhere"], reserveBytes: 0 }));
  const known = new Set((await own.registry.getMetricsAsJSON()).map(({ name }) => name));
  for (const file of ["deploy/grafana.json", "docs/operating.md"]) {
    const text = await readFile(new URL(`../../../../${file}`, import.meta.url), "utf8");
    const named = [...text.matchAll(/\bemend_[a-z_]+/g)].map(([name]) => name.replace(/_bucket$/, ""));
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  }
});
