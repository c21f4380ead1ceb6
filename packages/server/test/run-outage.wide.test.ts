import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type DatabaseProxy, startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { createFarEnds, type Script, scriptedStages } from "@emend/testkit/scripted-stages.ts";
import { readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { isFinal, shortTimes, waitForJob } from "@emend/testkit/worker-control.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Listener, startListener } from "../src/db/listener.ts";
import { createPool, type Pool } from "../src/db/pool.ts";
import type { CrashPoint } from "../src/run/crash-points.ts";
import { startWorker, type Worker } from "../src/run/worker.ts";

const log = createLogger({ level: "silent" });
let database: TestDatabase;
let proxy: DatabaseProxy;
let pool: Pool;
let listener: Listener;
let worker: Worker;
let projectId: string;
let beforeStepStored: () => void;
beforeEach(async () => {
  database = await createTestDatabase();
  await createFarEnds(database.pool);
  projectId = await seedProject(database.pool);
  proxy = await startDatabaseProxy(database.url);
  pool = createPool({ url: proxy.url, connectionsMax: 4, log, queryMsMax: 500 });
  listener = await startListener({ url: proxy.url, log });
  beforeStepStored = () => {};
  const crashPoint = (name: CrashPoint) => name === "before-step-stored" && beforeStepStored();
  // The forge and the model are reached directly: only Emend's own database becomes unavailable.
  const stages = scriptedStages({ pool: database.pool, worker: "only", crashPoint });
  worker = startWorker(
    { pool, databaseUrl: proxy.url, listener, log, stages, crashPoint },
    { concurrency: 2, ...shortTimes, drainMsMax: 1_000 },
  );
});
afterEach(async () => {
  await proxy.close();
  await worker.stop();
  await Promise.all([listener.close(), pool.end()]);
  await database.drop();
});
const job = (script: Script) => seedJob(database.pool, projectId, JSON.stringify(script));

async function turnsOf(id: string): Promise<readonly number[]> {
  return (await database.pool.query("select number from turns where job_id = $1 order by at", [id])).rows.map(
    (row) => row.number,
  );
}

test("cut connections cost a run neither a step, nor a crash, nor a turn", async () => {
  const id = await job({ steps: 10, turnMs: 60 });
  for (let steps = 1; steps < 10; steps += 2) {
    await waitForJob(database.pool, id, (row) => row.usage?.steps >= steps);
    proxy.cut();
  }
  const ended = await waitForJob(database.pool, id, isFinal);
  expect(ended).toMatchObject({ status: "completed", crashes: 0, retries: 0, runs: 1 });
  expect(await turnsOf(id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("a database away for longer than a lease is no crash of the job", async () => {
  const id = await job({ steps: 4, turnMs: 150 });
  await waitForJob(database.pool, id, (row) => row.usage?.steps >= 1);
  await outageOf(shortTimes.leaseMs * 1.3);
  const ended = await waitForJob(database.pool, id, isFinal);
  expect(ended).toMatchObject({ status: "completed", crashes: 0, runs: 1 });
  expect(await turnsOf(id)).toEqual([1, 2, 3, 4]);
});

test("an answer that was received is stored after the outage, although the lease was taken away meanwhile", async () => {
  const { pool: direct } = database;
  const answered = Promise.withResolvers<void>();
  let answers = 0;
  beforeStepStored = () => {
    answers += 1;
    if (answers !== 2) return;
    proxy.silence();
    answered.resolve();
  };
  const id = await job({ steps: 4 });
  await answered.promise;
  // Another node has swept the lease, and nobody has claimed the job yet.
  await direct.query(
    "update jobs set lease = null, lease_until = null, run_after = now() + interval '1 hour' where id = $1",
    [id],
  );
  expect(await readJob(direct, id)).toMatchObject({ usage: { steps: 1 } });
  proxy.restore();
  await waitForJob(direct, id, (row) => row.usage?.steps === 2);
  await direct.query("update jobs set run_after = now() where id = $1", [id]);
  expect(await waitForJob(direct, id, isFinal)).toMatchObject({ status: "completed", runs: 2 });
  expect(await turnsOf(id)).toEqual([1, 2, 3, 4]);
});

test("jobs are claimed again after connections went silent", async () => {
  await waitForJob(database.pool, await job({}), isFinal);
  proxy.silence();
  const id = await job({});
  proxy.restore();
  expect(await waitForJob(database.pool, id, isFinal)).toMatchObject({ status: "completed" });
});

async function outageOf(ms: number): Promise<void> {
  const until = performance.now() + ms;
  const cutting = setInterval(() => proxy.cut(), 5);
  while (performance.now() < until) await database.pool.query("select pg_sleep(0.05)");
  clearInterval(cutting);
}
