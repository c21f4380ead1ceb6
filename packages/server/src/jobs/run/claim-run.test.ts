import { randomUUID } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { alterJob, readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createPool, type Pool } from "../../db/pool.ts";
import { type ClaimOptions, claimRun as claim, holdRoomForSuspect, jobsBesideMax } from "./claim-run.ts";
import type { LeasedJob } from "./leased-job.ts";

let database: TestDatabase;
const options = { lanes: 4, leaseMs: 20_000, lookAfter: "", concurrency: 4, running: [] };

async function claimRun(pool: Pool, given: ClaimOptions = options): Promise<LeasedJob | null> {
  return (await claim(pool, given)).job;
}

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query("truncate projects cascade"));

test("takes the oldest due job, with a lease by the database's clock", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const [first, second] = [await seedJob(pool, projectId), await seedJob(pool, projectId)];
  await alterJob(pool, second, "run_after = clock_timestamp() - interval '1 hour'");

  const job = await claimRun(pool);
  expect(job).toMatchObject({ id: second, projectId, runs: 1, phase: "preparing", change: null, base: null });
  const { rows } = await pool.query(
    "select lease, extract(epoch from lease_until - clock_timestamp()) as left from jobs where id = $1",
    [second],
  );
  expect(rows[0].lease).toBe(job?.lease.token);
  expect(Number(rows[0].left)).toBeGreaterThan(15);
  expect(Number(rows[0].left)).toBeLessThanOrEqual(20);
  expect(await readEvents(pool, second)).toMatchObject([{ kind: "job.created" }, { seq: 2, kind: "run.started" }]);
  expect((await readJob(pool, first)).lease).toBeNull();
});

test("leaves jobs alone that are leased, final, or not due yet", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  await alterJob(pool, await seedJob(pool, projectId), "run_after = clock_timestamp() + interval '1 minute'");
  await alterJob(pool, await seedJob(pool, projectId), "status = 'completed'");
  await alterJob(pool, await seedJob(pool, projectId), "status = 'archived'");
  await seedJob(pool, projectId);

  expect(await claimRun(pool)).not.toBeNull();
  expect(await claimRun(pool)).toBeNull();
});

test("serves the project with fewest running first, and of those the one that has waited longest", async () => {
  const { pool } = database;
  const [busy, early, late] = [await seedProject(pool), await seedProject(pool), await seedProject(pool)];
  for (let count = 0; count < 3; count += 1) await seedJob(pool, busy);
  const lateJob = await seedJob(pool, late);
  const earlyJob = await seedJob(pool, early);
  await alterJob(pool, lateJob, "run_after = clock_timestamp() - interval '1 second'");
  await alterJob(pool, earlyJob, "run_after = clock_timestamp() - interval '2 seconds'");
  await pool.query("update jobs set run_after = clock_timestamp() - interval '1 hour' where project_id = $1", [busy]);

  const order: string[] = [];
  for (let job = await claimRun(pool); job; job = await claimRun(pool)) order.push(job.projectId);
  expect(order).toEqual([busy, early, late, busy, busy]);
});

/** Projects prj_01 and so on, each with this many jobs. The oldest is the first project's, then the second's. */
async function seedWaiting(pool: Pool, { projects, jobs, dueIn }: { projects: number; jobs: number; dueIn: string }) {
  await pool.query(
    `with project as (
       insert into projects (id, name, forge, repository_url) select 'prj_' || lpad(n::text, 2, '0'), '', 'local', ''
       from generate_series(1, $1::int) n returning id
     )
     insert into jobs (id, project_id, prompt, model, repository_url, branch, created_by, run_after)
     select 'job_' || id || '_' || n, id, '', '', '', '', '',
       clock_timestamp() + $3::interval + make_interval(secs => substr(id, 5)::float)
     from project cross join generate_series(1, $2::int) n`,
    [projects, jobs, dueIn],
  );
}

test("if more projects wait than one claim compares, each gets its first run before any gets its second", async () => {
  const { pool } = database;
  await seedWaiting(pool, { projects: 41, jobs: 3, dueIn: "-1 hour" });
  const order: (string | undefined)[] = [];
  const rounds: string[] = [];
  for (let lookAfter = ""; order.length < 41; ) {
    const claimed = await claim(pool, { ...options, lookAfter });
    order.push(claimed.job?.projectId);
    rounds.push(claimed.lookAfter);
    lookAfter = claimed.lookAfter;
  }
  expect(new Set(order).size).toBe(41);
  expect(order.slice(0, 3)).toEqual(["prj_01", "prj_02", "prj_03"]);
  expect(rounds.slice(0, 3)).toEqual(["prj_40", "", "prj_40"]);
});

test("projects whose jobs are not due yet do not keep a claim from the next", async () => {
  const { pool } = database;
  await seedWaiting(pool, { projects: 99, jobs: 1, dueIn: "1 hour" });
  await alterJob(pool, "job_prj_99_1", "run_after = clock_timestamp()");
  expect(await claim(pool, options)).toMatchObject({ job: { projectId: "prj_99" }, lookAfter: "" });
});

test("a project's own number of lanes goes before the default", async () => {
  const { pool } = database;
  const narrow = await seedProject(pool, { lanes: 1 });
  for (let count = 0; count < 3; count += 1) await seedJob(pool, narrow);
  expect(await claimRun(pool)).not.toBeNull();
  expect(await claimRun(pool)).toBeNull();
});

test("a lease that has expired still fills its lane until it is swept", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool, { lanes: 1 });
  const held = await seedJob(pool, projectId);
  await seedJob(pool, projectId);
  await claimRun(pool);
  await alterJob(pool, held, "lease_until = clock_timestamp() - interval '1 minute'");
  expect(await claimRun(pool)).toBeNull();
});

test("16 racing claimers never exceed the lanes", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  for (let count = 0; count < 40; count += 1) await seedJob(pool, projectId);
  // Projects with later jobs make the scan longer, and so the time between counting and locking.
  await pool.query(
    `with project as (
       insert into projects (id, name, forge, repository_url) select 'prj_' || n, 'later', 'local', '' from generate_series(1, 300) n
       returning id
     )
     insert into jobs (id, project_id, prompt, model, repository_url, branch, created_by, run_after)
     select 'job_' || id, id, '', '', '', '', '', clock_timestamp() + interval '1 hour' from project`,
  );
  const racers = createPool({ url: database.url, connectionsMax: 16, log: createLogger({ level: "silent" }) });
  try {
    await Promise.all(Array.from({ length: 16 }, () => racers.query("select pg_sleep(0.05)")));
    for (let round = 0; round < 8; round += 1) {
      await pool.query("update jobs set lease = null, lease_until = null where lease is not null");
      const claims = await Promise.all(Array.from({ length: 16 }, () => claimTimes(racers, 3)));
      // A worker that found the project locked gave up. One that comes alone finds the rest.
      const ids = [...claims.flat(), ...(await claimTimes(racers, 5))];
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.length).toBe(4);
    }
  } finally {
    await racers.end();
  }
});

test("a job whose commit is stored comes back with its change and stays in its phase", async () => {
  const { pool } = database;
  const id = await seedJob(pool, await seedProject(pool));
  await alterJob(
    pool,
    id,
    "phase = 'publishing', title = 'T', summary = 'S', findings = '{\"kind\":\"passed\"}', tree_id = 't', commit_id = 'c', base_commit = 'b', base_branch = 'main'",
  );
  expect(await claimRun(pool)).toMatchObject({
    phase: "publishing",
    base: { commit: "b", branch: "main" },
    change: { title: "T", summary: "S", findings: { kind: "passed" }, treeId: "t", commitId: "c", limitReached: null },
  });
});

async function claimTimes(pool: Pool, times: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let left = times; left > 0; left -= 1) {
    const job = await claimRun(pool);
    if (job) ids.push(job.id);
  }
  return ids;
}

test("a job that lost two workers goes to an idle process alone, before the others", async () => {
  const { pool } = database;
  const project = await seedProject(pool);
  const [first, lone] = [await seedJob(pool, project), await seedJob(pool, project)];
  await pool.query("update jobs set crashes = 2 where id = $1", [lone]);
  const busy = await claim(pool, { ...options, running: [{ crashes: 0 }] });
  expect(busy).toMatchObject({ job: { id: first, alone: false }, suspectWaits: true });
  expect(await claim(pool, { ...options, running: [{ crashes: 0 }] })).toMatchObject({ job: null, suspectWaits: true });
  await seedJob(pool, project);
  expect(await claim(pool, options)).toMatchObject({ job: { id: lone, alone: true }, suspectWaits: false });
});

test("suspects share a process in groups that halve with each lost worker, and only the last is alone", async () => {
  const { pool } = database;
  const project = await seedProject(pool, { lanes: 100 });
  const wide = { ...options, concurrency: 40 };
  for (const crashes of [2, 2, 3, 5]) {
    const id = await seedJob(pool, project);
    await pool.query("update jobs set crashes = $2 where id = $1", [id, crashes]);
  }
  await seedJob(pool, project);
  const groups = [2, 3, 4, 5, 9].map((crashes) => jobsBesideMax(crashes, 40));
  expect(groups).toEqual([10, 5, 2, 1, 1]);
  const first = await claim(pool, wide);
  expect(first.job).toMatchObject({ crashes: 2, alone: false });
  // Five others run: one that lost three workers would be the sixth of its group, which has five.
  const six = Array.from({ length: 5 }, () => ({ crashes: 2 }));
  expect((await claim(pool, { ...wide, running: six })).job).toMatchObject({ crashes: 2 });
  expect(await claim(pool, { ...wide, running: six })).toMatchObject({ job: null, suspectWaits: false });
  expect((await claim(pool, { ...wide, running: [{ crashes: 2 }] })).job).toMatchObject({ crashes: 3, alone: false });
  expect((await claim(pool, wide)).job).toMatchObject({ crashes: 5, alone: true });
});

test("one process at a time makes room, until it no longer says so", async () => {
  const { pool } = database;
  const [one, other] = [randomUUID(), randomUUID()];
  expect([await holdRoomForSuspect(pool, one, 60_000), await holdRoomForSuspect(pool, other, 60_000)]).toEqual([
    true,
    false,
  ]);
  expect(await holdRoomForSuspect(pool, one, 0)).toBe(true);
  expect(await holdRoomForSuspect(pool, other, 60_000)).toBe(true);
});

test("a job that must run alone waits for a lane of its project", async () => {
  const { pool } = database;
  const project = await seedProject(pool, { lanes: 1 });
  await seedJob(pool, project);
  await claim(pool, options);
  const lone = await seedJob(pool, project);
  await pool.query("update jobs set crashes = 2 where id = $1", [lone]);
  expect(await claim(pool, { ...options, running: [{ crashes: 0 }] })).toMatchObject({
    job: null,
    suspectWaits: false,
  });
  expect(await claim(pool, options)).toMatchObject({ job: null });
});

test("leaves a project's job to its home workers for a while, and then takes it", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const id = await seedJob(pool, projectId);
  const { rows } = await pool.query("select hashtext($1) & 1023 as slot", [projectId]);
  const slots = Buffer.alloc(128, 0xff);
  const isHomeWorker = { ...options, slots: Buffer.from(slots), homeMs: 3_600_000 };
  slots[rows[0].slot >> 3] = 0xff - (1 << (rows[0].slot & 7));
  const elsewhere = { ...options, slots, homeMs: 3_600_000 };
  expect(await claimRun(pool, elsewhere)).toBeNull();
  expect(await claimRun(pool, isHomeWorker)).toMatchObject({ id });
  await alterJob(pool, id, "lease = null, lease_until = null, run_after = clock_timestamp() - interval '2 hours'");
  expect(await claimRun(pool, elsewhere)).toMatchObject({ id });
});
