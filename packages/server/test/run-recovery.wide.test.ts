import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { createFarEnds, type Script } from "@emend/testkit/scripted-stages.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import {
  expireLeases,
  isFinal,
  shortTimes,
  spawnWorker,
  type WorkerProcess,
  waitForJob,
} from "@emend/testkit/worker-control.ts";
import { afterEach, beforeEach, expect, test } from "vitest";

let database: TestDatabase;
let workers: WorkerProcess[];
let projectId: string;
beforeEach(async () => {
  database = await createTestDatabase();
  await createFarEnds(database.pool);
  projectId = await seedProject(database.pool);
  workers = [];
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await database.drop();
});

async function worker(name: string, more: Partial<Parameters<typeof spawnWorker>[0]> = {}): Promise<WorkerProcess> {
  const started = await spawnWorker({ databaseUrl: database.url, name, ...more });
  workers.push(started);
  return started;
}
const job = (script: Script) => seedJob(database.pool, projectId, JSON.stringify(script));

async function rowsOf(
  table: "turns" | "pushes" | "pulls",
  id: string,
): Promise<readonly { worker: string; number: number }[]> {
  return (await database.pool.query(`select * from ${table} where job_id = $1`, [id])).rows;
}
async function untilTurn(id: string, number: number): Promise<void> {
  while ((await rowsOf("turns", id)).length < number);
}

test("a job whose worker is killed continues on another one, and pays for no stored step again", async () => {
  const id = await job({ steps: 6, turnMs: 100 });
  const first = await worker("first", { options: { leaseMs: 3_600_000 } });
  await waitForJob(database.pool, id, (row) => row.usage?.steps >= 2);
  await first.kill();
  const stored = (await readJob(database.pool, id)).usage.steps;
  await worker("second");

  const ended = await waitForJob(database.pool, id, isFinal);
  expect(ended).toMatchObject({ status: "completed", crashes: 1, runs: 2, model: "scripted/last", ref: `emend/${id}` });
  const turns = await rowsOf("turns", id);
  expect(turns.filter((turn) => turn.worker === "second").map((turn) => turn.number)).toEqual(
    Array.from({ length: 6 - stored }, (_, index) => stored + index + 1),
  );
  expect(await rowsOf("pulls", id)).toHaveLength(1);
});

test("a worker frozen past its lease finds its write refused, and publishes nothing", async () => {
  const id = await job({ steps: 3, turnMs: 150 });
  const frozen = await worker("frozen");
  await untilTurn(id, 1);
  frozen.child.kill("SIGSTOP");
  await expireLeases(database.pool);
  await worker("second");
  await waitForJob(database.pool, id, isFinal);
  const [before, events] = [await readJob(database.pool, id), await readEvents(database.pool, id)];

  frozen.child.kill("SIGCONT");
  await frozen.logged("lease lost; another worker continues the run");
  expect(await readJob(database.pool, id)).toEqual(before);
  expect(await readEvents(database.pool, id)).toEqual(events);
  expect((await rowsOf("pushes", id)).map((push) => push.worker)).toEqual(["second"]);
});

test("a worker frozen between its commit and its push does not push when it wakes", async () => {
  const id = await job({ publishMs: 200 });
  const frozen = await worker("frozen");
  await waitForJob(database.pool, id, (row) => row.phase === "publishing");
  frozen.child.kill("SIGSTOP");
  await expireLeases(database.pool);
  await worker("second");
  const ended = await waitForJob(database.pool, id, isFinal);
  expect(ended).toMatchObject({ status: "completed", crashes: 1 });

  frozen.child.kill("SIGCONT");
  await frozen.logged("lease lost; another worker continues the run");
  expect((await rowsOf("pushes", id)).map((push) => push.worker)).toEqual(["second"]);
  expect(await rowsOf("turns", id)).toHaveLength(1);
});

test("a main loop that is busy for longer than a lease keeps it", async () => {
  // Claims no jobs, but sweeps expired leases.
  await worker("sweeper", { options: { concurrency: 0 } });
  const id = await job({ blockMs: shortTimes.leaseMs * 1.5 });
  await worker("busy", { options: shortTimes });
  const ended = await waitForJob(database.pool, id, isFinal);
  expect(ended).toMatchObject({ status: "completed", crashes: 0, runs: 1 });
});

test("a blocked main loop loses its lease", async () => {
  const id = await job({ blockMs: 600_000 });
  await worker("stuck", { options: { ...shortTimes, leaseMs: 1_000, stallMsMax: 400 } });
  await waitForJob(database.pool, id, (row) => row.lease !== null);
  const sweeper = await worker("sweeper", { options: { concurrency: 0 } });
  await waitForJob(database.pool, id, (row) => row.lease === null && row.crashes === 1);
  await sweeper.kill();
});

test("a job that takes its worker down fails after three times alone, and the jobs beside it complete", async () => {
  const guilty = await job({ turnMs: 300, killsWorker: true });
  const innocent = [await job({ turnMs: 900 }), await job({ turnMs: 900 }), await job({ turnMs: 900 })];
  let workersLost = 0;
  for (;;) {
    const spawned = await worker(`worker ${workersLost + 1}`);
    const ended = await Promise.race([spawned.ended, waitForJob(database.pool, guilty, isFinal)]);
    if (ended !== "SIGKILL") break;
    workersLost += 1;
    await expireLeases(database.pool);
  }
  expect(await readJob(database.pool, guilty)).toMatchObject({
    status: "failed",
    failure_code: "internal",
    crashes: 5,
    crashes_blamed: 3,
    ref: null,
    pr_link: null,
  });
  expect(workersLost).toBe(5);
  for (const id of innocent) {
    expect(await waitForJob(database.pool, id, isFinal)).toMatchObject({ status: "completed", crashes_blamed: 0 });
  }
});

test("a job whose commit is stored is published, however many workers it lost", async () => {
  const id = await job({});
  const doomed = await worker("first", { crashAt: "after-commit-stored" });
  expect(await doomed.ended).toBe("SIGKILL");
  await alterJob(database.pool, id, "crashes = 9, crashes_blamed = 9");
  await expireLeases(database.pool);
  await worker("second");
  const ended = await waitForJob(database.pool, id, isFinal);
  expect(ended).toMatchObject({ status: "completed", pr_link: `http://forge.test/${id}` });
  expect(await rowsOf("turns", id)).toHaveLength(1);
});

test("a worker told to stop gives its jobs back after the next step, and exits with 0", async () => {
  const id = await job({ steps: 40, turnMs: 100 });
  const stopped = await worker("stopped");
  await untilTurn(id, 1);
  stopped.child.kill("SIGTERM");
  expect(await stopped.ended).toBe(0);

  const released = await readJob(database.pool, id);
  expect(released).toMatchObject({ status: "active", lease: null, crashes: 0, phase: "queued" });
  expect(released.usage.steps).toBe((await rowsOf("turns", id)).length);
  expect(released.usage.steps).toBeLessThan(40);
});

test("a turn that outlasts the stop is interrupted and its job given back in time", async () => {
  const id = await job({ steps: 1, turnMs: 600_000 });
  const stopped = await worker("stopped", { options: { drainMsMax: 1_000 } });
  await waitForJob(database.pool, id, (row) => row.phase === "working");
  stopped.child.kill("SIGTERM");
  expect(await stopped.ended).toBe(0);
  expect(await readJob(database.pool, id)).toMatchObject({ status: "active", lease: null, crashes: 0 });
});
