import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { alterJob, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startListener } from "../../db/listener.ts";
import { inTransaction } from "../../db/transaction.ts";
import { claimRun } from "./claim-run.ts";
import { releaseRun } from "./end-run.ts";
import type { LeasedJob } from "./leased-job.ts";
import { renewLeases, sweepLeases } from "./leases.ts";
import { recordCommit } from "./record-change.ts";

let database: TestDatabase;
let projectId: string;
let job: LeasedJob;
const options = { lanes: 4, leaseMs: 20_000, lookAfter: "", concurrency: 4, running: [] };

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate projects cascade");
  projectId = await seedProject(database.pool);
  await seedJob(database.pool, projectId);
  const claim = await claimRun(database.pool, options);
  if (!claim.job) throw new Error("no job");
  job = claim.job;
});
const expire = () => alterJob(database.pool, job.id, "lease_until = clock_timestamp() - interval '1 second'");

test("a released job counts no crash and keeps its place before newer ones", async () => {
  const { pool } = database;
  await seedJob(pool, projectId);
  await releaseRun(pool, job.lease, { reason: "released", delayMs: 0 });
  expect(await readJob(pool, job.id)).toMatchObject({ lease: null, phase: "queued", crashes: 0, retries: 0 });
  expect((await claimRun(pool, options)).job).toMatchObject({ id: job.id, runs: 2 });
});

test("a retry is due later and counts apart from crashes", async () => {
  const { pool } = database;
  await releaseRun(pool, job.lease, { reason: "retry", delayMs: 60_500.5 });
  expect(await readJob(pool, job.id)).toMatchObject({ crashes: 0, retries: 1 });
  expect((await claimRun(pool, options)).job).toBeNull();
});

test("a job that publishes stays in that phase when its run is given back or lost", async () => {
  const { pool } = database;
  await recordCommit(pool, job.lease, { treeId: "t", commitId: "c" });
  await releaseRun(pool, job.lease, { reason: "crash", delayMs: 0 });
  expect(await readJob(pool, job.id)).toMatchObject({ phase: "publishing", crashes: 1 });
  await claimRun(pool, options);
  await expire();
  await sweepLeases(pool);
  expect(await readJob(pool, job.id)).toMatchObject({ phase: "publishing", crashes: 2 });
});

test("an expired lease is swept once, counts a crash, and its job is due at once", async () => {
  const { pool } = database;
  expect(await sweepLeases(pool)).toEqual([]);
  await expire();
  const swept = await Promise.all(Array.from({ length: 5 }, () => sweepLeases(pool)));
  expect(swept.flat()).toEqual([{ id: job.id, crashes: 1, isGone: false }]);
  expect((await claimRun(pool, options)).job).toMatchObject({ id: job.id, crashesBlamed: 0, runs: 2 });
});

/** Another process claims a job, and is killed. */
async function claimOfKilledProcess(): Promise<{ id: string; restart(): Promise<{ close(): Promise<void> }> }> {
  const { pool, url } = database;
  const id = await seedJob(pool, projectId);
  const listener = await startListener({ url, log: createLogger({ level: "silent" }) });
  const { holder } = listener;
  expect((await claimRun(pool, { ...options, holder })).job).toMatchObject({ id });
  expect(await sweepLeases(pool)).toEqual([]);
  await listener.close();
  // Postgres says who is connected only once it has noticed.
  const isConnected = "select 1 from pg_locks where locktype = 'advisory' and objid::bigint = $1";
  while ((await pool.query(isConnected, [holder])).rowCount !== 0);
  return { id, restart: () => startListener({ url, holder, log: createLogger({ level: "silent" }) }) };
}
const lookedEarlier = (interval: string) =>
  database.pool.query(
    `update lost_workers set looked_at = looked_at - $1::interval,
       gone_since = (select coalesce(jsonb_object_agg(key, (value #>> '{}')::timestamptz - $1::interval), '{}') from jsonb_each(gone_since))`,
    [interval],
  );

test("a process that is not connected at two looks has lost its jobs, and no other process has", async () => {
  const { pool } = database;
  const { id } = await claimOfKilledProcess();
  expect(await sweepLeases(pool)).toEqual([]);
  expect(await sweepLeases(pool)).toEqual([]);
  await lookedEarlier("1 second");
  expect(await sweepLeases(pool)).toEqual([{ id, crashes: 1, isGone: true }]);
  expect(await readJob(pool, job.id)).toMatchObject({ lease: job.lease.token, crashes: 0 });
});

test("a process that is connected again at the second look keeps its jobs", async () => {
  const { pool } = database;
  const { restart } = await claimOfKilledProcess();
  expect(await sweepLeases(pool)).toEqual([]);
  const again = await restart();
  await lookedEarlier("1 second");
  expect(await sweepLeases(pool)).toEqual([]);
  await again.close();
});

test("after a pause without looks, as when the database was away, nobody counts as gone", async () => {
  const { pool } = database;
  await claimOfKilledProcess();
  expect(await sweepLeases(pool)).toEqual([]);
  await lookedEarlier("10 seconds");
  expect(await sweepLeases(pool)).toEqual([]);
});

test("one node at a time looks, and not before the others' pause is over", async () => {
  const { pool } = database;
  await sweepLeases(pool);
  await expire();
  expect(await sweepLeases(pool, 60_000)).toEqual([]);
  await lookedEarlier("1 minute");
  expect(await sweepLeases(pool, 60_000)).toMatchObject([{ id: job.id }]);
});

test("a renewal changes its row in place, in no index", async () => {
  await inTransaction(database.pool, async (client) => {
    const inPlace = async () =>
      (await client.query("select pg_stat_get_xact_tuples_hot_updated('jobs'::regclass)::int as count")).rows[0].count;
    const before = await inPlace();
    await renewLeases(client, [job.lease], 20_000);
    expect(await inPlace()).toBe(before + 1);
  });
});

test("renewing tells the leases that are lost", async () => {
  const { pool } = database;
  const lost = { jobId: job.id, token: crypto.randomUUID() };
  await expire();
  expect(await renewLeases(pool, [job.lease, lost], 20_000)).toEqual([lost.token]);
  expect(await sweepLeases(pool)).toEqual([]);
});

test("a row that somebody holds does not keep the other leases from being renewed", async () => {
  const { pool } = database;
  const other = await seedJob(pool, projectId);
  const { job: second } = await claimRun(pool, options);
  if (!second) throw new Error("no job");
  await pool.query("update jobs set lease_until = clock_timestamp() - interval '1 second'");
  const client = await pool.connect();
  try {
    await client.query("begin");
    await client.query("select 1 from jobs where id = $1 for update", [job.id]);
    expect(await renewLeases(pool, [job.lease, second.lease], 20_000)).toEqual([]);
  } finally {
    await client.query("rollback");
    client.release();
  }
  expect((await readJob(pool, other)).lease_until > (await readJob(pool, job.id)).lease_until).toBe(true);
});
