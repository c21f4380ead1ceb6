import { createLogger } from "@emend/base/logger.ts";
import type { Fetch } from "@emend/base/network.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { slotsOf } from "../installation/home-workers.ts";
import { listNodes, startHeartbeat } from "../installation/nodes.ts";
import { createMetrics } from "../metrics/metrics.ts";
import { createStatusReader } from "./status.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("lists a process while it lives, and as not responding once it is silent", async () => {
  const { pool } = database;
  const heart = await startHeartbeat({ pool, log: createLogger({ level: "silent" }) }, "worker");
  await pool.query("insert into nodes (id, host, role, version) values ('old', 'gone', 'api', '0.0.9')");
  await pool.query("update nodes set seen_at = now() - interval '2 minutes' where id = 'old'");
  expect(await listNodes(pool)).toMatchObject([
    { role: "worker", version: "0.1.0", isAlive: true },
    { role: "api", host: "gone", isAlive: false },
  ]);
  await heart.stop();
  expect(await listNodes(pool)).toMatchObject([{ id: "old" }]);
});

test("tells at once when a process ceases to take jobs, and when it takes them again", async () => {
  const { pool } = database;
  let problem: string | null = null;
  const heart = await startHeartbeat(
    { pool, log: createLogger({ level: "silent" }), problem: async () => problem },
    "worker",
  );
  const told = async () => (await listNodes(pool)).find(({ role }) => role === "worker")?.problem;
  // Sooner than the next heartbeat.
  const soon = { timeout: 10_000 };
  problem = "The disk of this machine is full (ENOSPC).";
  await expect.poll(told, soon).toBe(problem);
  problem = null;
  await expect.poll(told, soon).toBeNull();
  await heart.stop();
});

test("shares projects among workers that have room, and knows one that is full before its next heartbeat", async () => {
  const { pool } = database;
  const deps = { pool, log: createLogger({ level: "silent" }) };
  const [own, second, third] = await Promise.all([1, 2, 3].map((home) => startHeartbeat(deps, "worker", home)));
  const api = await startHeartbeat(deps, "api");
  expect(await api.homeSlots()).toBeNull();
  expect(await own?.homeSlots()).toEqual(slotsOf(1, [2, 3]));
  third?.tellRoom(false);
  await expect.poll(() => own?.homeSlots(), { timeout: 20_000 }).toBeNull();
  await Promise.all([own, second, third, api].map((heart) => heart?.stop()));
});

test("says which models and forges answer, whatever they say, and asks each once for a while", async () => {
  const { pool } = database;
  await pool.query(
    `insert into projects (id, name, forge, repository_url) values
     ('prj_a', 'A', 'github', 'https://github.com/a/b'), ('prj_b', 'B', 'github', 'https://github.com/c/d'),
     ('prj_c', 'C', 'gitea', 'https://git.example.com/a/b'), ('prj_d', 'D', 'local', 'http://localhost/git/prj_d.git')`,
  );
  const asked: string[] = [];
  const fetch: Fetch = async (url) => {
    asked.push(url);
    if (url.includes("git.example.com")) throw Object.assign(new Error("no"), { cause: { code: "ENOTFOUND" } });
    return { status: 401, headers: new Headers(), body: null };
  };
  const modelEndpoints = {
    openai: { apiKey: null, baseUrl: null },
    compatible: { apiKey: null, baseUrl: "http://llm" },
  };
  const config = { model: "emend/rules", modelFallbacks: ["openai/gpt", "compatible/x"], modelEndpoints };
  await pool.query(
    `insert into tasks (kind, subject, due_at, waits, waiting_since, problem) values
     ('set_details', 'job_1', '2026-01-02T00:05:00Z', 2, '2026-01-02T00:00:00Z', 'GitHub answered 503.'),
     ('check_site', 'prj_a', now(), 0, null, null)`,
  );
  const read = createStatusReader({ pool, config, fetch, forgeFetch: fetch });
  await read();
  const status = await read();
  expect(status.models).toEqual([
    { name: "emend/rules", url: null, problem: null },
    { name: "openai/gpt", url: "https://api.openai.com", problem: null },
    { name: "compatible/x", url: "http://llm", problem: null },
  ]);
  expect(status.forges).toEqual([
    { forge: "github", url: "https://github.com", projects: 2, problem: null },
    { forge: "gitea", url: "https://git.example.com", projects: 1, problem: "Unknown host name" },
  ]);
  expect(asked.length).toBe(4);
  const times = { since: "2026-01-02T00:00:00.000Z", nextTryAt: "2026-01-02T00:05:00.000Z" };
  expect(status.outbox).toEqual([{ kind: "set_details", subject: "job_1", problem: "GitHub answered 503.", ...times }]);
  expect(status).toMatchObject({ version: "0.1.0", queue: { waiting: 0, running: 0 }, lastBackupAt: null });
  expect(status.database.bytes).toBeGreaterThan(1_000_000);
});

test("the metric emend_build_info tells version and role", async () => {
  const text = await createMetrics("api").registry.metrics();
  expect(text).toContain(`emend_build_info{version="0.1.0",role="api",node="${process.version}"} 1`);
});
