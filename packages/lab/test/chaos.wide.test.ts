import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { changedSource, root } from "../../../scripts/source-copy.ts";
import { conversations } from "../chaos/conversations.ts";
import type { Experiment } from "../chaos/experiment.ts";
import { frozenWorkers } from "../chaos/frozen-workers.ts";
import { judge, openHistory } from "../chaos/judge.ts";
import { repeatedPosts } from "../chaos/races.ts";
import { runExperiment } from "../chaos/run-experiment.ts";
import { guards, tryWithout } from "../chaos/without-guard.ts";
import { workerKills } from "../chaos/worker-kills.ts";

// A seeded sample of `npm run chaos`, which runs for longer. run-outage.test.ts samples the database faults.
let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const held = { lost: 0, duplicated: 0, unexpected: [] };

test.each<[Experiment, number]>([
  [workerKills, 0.01],
  [frozenWorkers, 0.05],
  [conversations, 0.02],
  [repeatedPosts, 0.05],
])("a sample of $name holds", async (experiment, scale) => {
  const setting = {
    url: database.url,
    pool: database.pool,
    random: seededRandom(42),
    history: openHistory(null),
    scale,
  };
  const verdict = await runExperiment(experiment, setting);
  expect(verdict).toMatchObject(held);
  expect(verdict.faults).toBeGreaterThan(0);
  expect(verdict.jobs).toBeGreaterThan(1);
});

test("without the lease's check at the end of a run, the same sample is broken", async () => {
  expect(await tryWithout("fence", { seed: 42, database: database.url })).toMatchObject({
    isSeen: true,
    verdict: expect.stringMatching(/ 0 lost, [1-9]\d* duplicated, 0 unexpected/),
  });
});

test.each(Object.entries(guards))("the guard %s can be taken away", (_, guard) => {
  for (const change of [guard, ...(guard.also ? [guard.also] : [])]) changedSource(root, change);
});

test("the judge sees what is lost, done twice, slow and out of order", async () => {
  const { pool } = database;
  await createFarEnds(pool);
  const project = await seedProject(pool);
  const [active, ended] = [await seedJob(pool, project), await seedJob(pool, project)];
  await pool.query("update jobs set status = 'failed', failure_message = 'Broken.' where id = $1", [ended]);
  await pool.query(
    "insert into job_events (job_id, seq, kind, data) values ($1, 2, 'failed', '{}'), ($1, 3, 'failed', '{}')",
    [ended],
  );
  await pool.query("insert into steps (job_id, number, messages) values ($1, 1, '[]')", [ended]);
  await pool.query("insert into turns (job_id, number) values ($1, 1)", [ended]);
  // Two pull requests: a worker opened the second after another worker had taken its job.
  await pool.query("insert into starts (job_id, worker) values ($1, 'first')", [active]);
  await pool.query("insert into pulls (job_id, worker) values ($1, 'first')", [active]);
  await pool.query("insert into starts (job_id, worker) values ($1, 'second')", [active]);
  await pool.query("insert into pulls (job_id, worker) values ($1, 'first')", [active]);
  // A turn that is requested again by a run that started after the next turn.
  for (const [number, worker] of [
    [1, "first"],
    [2, "first"],
    [1, "second"],
  ] as const) {
    await pool.query("insert into starts (job_id, worker) values ($1, $2)", [active, worker]);
    await pool.query("insert into turns (job_id, number, worker) values ($1, $2, $3)", [active, number, worker]);
  }
  // Three concurrent runs in a project that allows two.
  await pool.query("update projects set settings = '{\"lanes\": 2}'");
  for (const job of [active, ended, await seedJob(pool, project)])
    await pool.query("insert into job_events (job_id, seq, kind, data) values ($1, 9, 'run.started', '{}')", [job]);
  const verdict = await judge(pool, [
    { kind: "accepted", jobId: active },
    { kind: "accepted", jobId: "job_gone", idempotencyKey: "a" },
    { kind: "accepted", jobId: ended, idempotencyKey: "a" },
    { kind: "recovered", afterMs: 20, msMax: 10 },
    { kind: "expected", jobs: 4 },
  ]);
  expect(verdict).toMatchObject({ jobs: 3, lost: 2, duplicated: 6 });
  expect(verdict.unexpected).toEqual([
    "recovered after 20 ms, 10 allowed",
    "a job failed: Broken.",
    "3 jobs ran at once in docs, which has 2 lanes",
    "3 jobs instead of 4",
  ]);
});
