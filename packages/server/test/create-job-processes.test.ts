// Costly: a quota must be exact over two processes.
import { Agent, request } from "node:http";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { spawnServing } from "@emend/testkit/spawn-process.ts";
import { afterAll, expect, test } from "vitest";
import { createKey } from "../src/accounts/keys/api-keys.ts";
import { addProject } from "../src/accounts/projects/save-project.ts";
import { createSealer } from "../src/accounts/secrets.ts";

const database = await createTestDatabase();
const script = new URL("../../testkit/src/api-process.ts", import.meta.url);
const servers = await Promise.all([1, 2].map(() => spawnServing(script, [database.url])));
const agent = new Agent({ keepAlive: true });
afterAll(async () => {
  agent.destroy();
  await Promise.all(servers.map((server) => server.stop()));
  await database.drop();
});

async function newProject(settings: unknown): Promise<(n: number, idempotencyKey?: string) => Promise<Answer>> {
  const sealer = createSealer("x".repeat(32));
  const project = await addProject(
    { db: database.pool, sealer },
    { name: "docs", forge: "github", repositoryUrl: "https://github.test/acme/docs", settings },
  );
  const outcome = await createKey(database.pool, {
    name: "ci",
    projectIds: [project.id],
    scope: "write",
    expiresInMs: null,
    allowList: null,
    createdBy: "console",
  });
  if (outcome.kind !== "created") throw new Error(outcome.kind);
  return (n, idempotencyKey) =>
    post(servers[n % 2]?.port ?? 0, `/v2/agent/${project.id}/job`, outcome.key, idempotencyKey);
}

interface Answer {
  status: number;
  text: string;
}

function post(port: number, path: string, key: string, idempotencyKey: string | undefined): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
  };
  const outgoing = request({ port, host: "127.0.0.1", path, method: "POST", headers, agent }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk) => {
      text += chunk;
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
  });
  outgoing.on("error", reject);
  outgoing.end('{"prompt":"Fix the links."}');
  return promise;
}

/** Runs `work` for 0 … count-1, `clients` at a time. */
async function withClients<T>(clients: number, count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < count) results.push(await work(next++));
    }),
  );
  return results;
}

/** Simulates a slow disk: widens the race window between reading the quota and storing a use. */
async function slowCommits(): Promise<void> {
  await database.pool.query(`
    create function wait_a_little() returns trigger language plpgsql as $$ begin perform pg_sleep(0.005); return null; end $$;
    create trigger slow after insert on quota_uses for each row execute function wait_a_little()`);
}

function countBy(values: readonly unknown[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1;
  return counts;
}

test("200 idempotency keys, each posted 20 times at once at two processes: 200 jobs", async () => {
  const create = await newProject({ createsPerHourMax: 100_000 });
  const answers = await withClients(2, 200, (key) =>
    Promise.all(Array.from({ length: 20 }, (_, n) => create(n, `key ${key}`))),
  );
  expect(countBy(answers.flat().map(({ status }) => status))).toEqual({ 201: 4000 });
  expect(answers.filter((posts) => new Set(posts.map(({ text }) => text)).size !== 1)).toEqual([]);
  expect(new Set(answers.flat().map(({ text }) => text)).size).toBe(200);
});

test("2,000 creates by 40 clients at two processes: exactly 100 are accepted", async () => {
  const create = await newProject({});
  await withClients(40, 80, await newProject({})); // so that every connection is open
  await slowCommits();
  const answers = await withClients(40, 2000, create);
  expect(countBy(answers.map(({ status }) => status))).toEqual({ 201: 100, 429: 1900 });
});
