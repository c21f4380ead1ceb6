// Costly: one database goes through every schema; the others begin with the newest.
import { readdir, readFile } from "node:fs/promises";
import { createLogger } from "@emend/base/logger.ts";
import { createFarEnds, scriptedStages } from "@emend/testkit/scripted-stages.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { isFinal, waitForJob } from "@emend/testkit/worker-control.ts";
import { afterAll, expect, inject, test } from "vitest";
import { startWorker } from "../run/worker.ts";
import { startListener } from "./listener.ts";
import { migrate } from "./migrate.ts";
import { createPool, type Pool } from "./pool.ts";

const { url: serverUrl } = inject("testServer");
const folder = new URL("./migrations/", import.meta.url);
const steps = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
/** What may be there before the newest one comes. */
const earlier = steps.slice(0, Math.max(1, steps.length - 1));
const log = createLogger({ level: "silent" });
const cleanUps: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

/** One database goes through every schema in turn. In each, jobs are left as that release would leave them. */
async function growFromTheFirst(): Promise<{ url: string; pool: Pool }> {
  const name = `emend_upgrade_${process.pid}`;
  await runOnServer(serverUrl, `create database ${name} template template0 encoding 'UTF8'`);
  cleanUps.push(() => runOnServer(serverUrl, `drop database ${name} with (force)`));
  const url = withDatabaseName(serverUrl, name);
  const pool = createPool({ url, connectionsMax: 4, log });
  cleanUps.push(() => pool.end());
  await pool.query("create table migrations (name text primary key, applied_at timestamptz not null default now())");
  for (const [index, step] of earlier.entries()) {
    await pool.query(await readFile(new URL(step, folder), "utf8"));
    await pool.query("insert into migrations (name) values ($1)", [step]);
    await leaveJobs(pool, index);
  }
  return { url, pool };
}

const prompt = JSON.stringify({ steps: 2 });

/** Only columns of the first schema: later columns need a default for such rows. */
async function leaveJobs(pool: Pool, index: number): Promise<void> {
  const project = `prj_${index}`;
  await pool.query(
    "insert into projects (id, name, forge, repository_url, settings) values ($1, $1, 'local', 'http://forge.test/docs.git', '{}')",
    [project],
  );
  const add = (state: string, assignments: string) =>
    pool
      .query(
        `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
         values ($1, $2, $3, 'emend/rules', 'http://forge.test/docs.git', 'emend/' || $1, 'emend/' || $1, 'test', 1)`,
        [`job_${state}_${index}`, project, prompt],
      )
      .then(() => pool.query(`update jobs set ${assignments} where id = $1`, [`job_${state}_${index}`]));
  await add("queued", "phase = 'queued'");
  // Running when its node was replaced: a step is stored, and its lease expires.
  await add(
    "working",
    "phase = 'working', runs = 1, lease = gen_random_uuid(), lease_until = clock_timestamp(), base_commit = 'base', base_branch = 'main'",
  );
  await pool.query(
    'insert into steps (job_id, number, messages, usage) values ($1, 1, \'[]\', \'{"inputTokens": 1, "outputTokens": 1, "cachedInputTokens": 0, "costUsd": 0}\')',
    [`job_working_${index}`],
  );
  await add("done", "status = 'completed', ended_at = clock_timestamp(), summary = 'Done.'");
}

test("jobs that every earlier schema left are carried to their end under the newest", async () => {
  const { url, pool } = await growFromTheFirst();
  expect(await migrate(pool)).toEqual(steps.slice(earlier.length));
  await createFarEnds(pool);
  const listener = await startListener({ url, log });
  cleanUps.push(() => listener.close());
  const crashPoint = () => {};
  const stages = scriptedStages({ pool, worker: "new", crashPoint });
  const worker = startWorker(
    { pool, databaseUrl: url, listener, log, stages, crashPoint },
    { concurrency: 8, pollMs: 20 },
  );
  cleanUps.push(() => worker.stop());
  for (const index of earlier.keys()) {
    for (const state of ["queued", "working"]) {
      const id = `job_${state}_${index}`;
      expect(await waitForJob(pool, id, isFinal)).toMatchObject({
        status: "completed",
        pr_link: `http://forge.test/${id}`,
      });
    }
    // Steps that the previous release stored are not paid for again.
    const { rows } = await pool.query("select number from turns where job_id = $1", [`job_working_${index}`]);
    expect(rows).toEqual([{ number: 2 }]);
  }
  const { rows } = await pool.query("select count(*)::int as count from jobs where status <> 'completed'");
  expect(rows).toEqual([{ count: 0 }]);
});
