import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createPool } from "../db/pool.ts";
import { createLogger } from "../lib/logger.ts";
import { startTasks, type Tasks, type TasksDeps } from "./start-tasks.ts";

const log = createLogger({ level: "silent" });
let database: TestDatabase;
let tasks: Tasks[];
beforeEach(async () => {
  database = await createTestDatabase();
  tasks = [];
});
afterEach(async () => {
  await Promise.all(tasks.map((each) => each.stop()));
  await database.drop();
});

function start(deps: Partial<TasksDeps> = {}): Tasks {
  const started = startTasks(
    {
      pool: database.pool,
      log,
      sweepMirrors: async () => {},
      fireAutomations: async () => 0,
      listNewSites: async () => [],
      listDueSiteChecks: async () => [],
      checkSite: async () => {},
      ...deps,
    },
    { archiveAfterDays: async () => null, sweepMirrorsEveryMs: 20 },
  );
  tasks.push(started);
  return started;
}

async function until(sql: string): Promise<void> {
  for (;;) {
    const { rows } = await database.pool.query(sql).catch(() => ({ rows: [] }));
    if (rows.length > 0) return;
  }
}
const allKnown = "select 1 from emend_tasks._private_known_crontabs having count(*) = 11";

test("what is due is done once, however many nodes look after it", async () => {
  const { pool } = database;
  await Promise.all([start(), start(), start()]);
  await until(allKnown);
  await Promise.all(tasks.map((each) => each.stop()));
  // Each deletion leaves a mark, whether or not it found anything.
  await pool.query(`
    create table marks (at timestamptz default clock_timestamp());
    create function mark() returns trigger language plpgsql as 'begin insert into marks default values; return null; end';
    create trigger mark after delete on quota_uses for each statement execute function mark()`);
  await pool.query("update emend_tasks._private_known_crontabs set last_execution = now() - interval '1 hour'");

  await Promise.all([start(), start(), start()]);
  await until("select 1 from marks");
  await until("select 1 from emend_tasks._private_jobs having count(*) = 0");
  expect((await pool.query("select * from marks")).rowCount).toBe(1);
});

test("signals are left to the process", async () => {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"] as const;
  const count = () => signals.map((signal) => process.listenerCount(signal));
  const before = count();
  start();
  await until(allKnown);
  expect(count()).toEqual(before);
});

test("a node's own folders are swept on every node, again and again, whatever one sweep throws", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let sweeps = 0;
  start({
    async sweepMirrors() {
      sweeps += 1;
      if (sweeps === 3) resolve();
      throw new Error("a disk that is full");
    },
  });
  await promise;
});

test("a database that is not there yet is waited for, and a stop does not wait for it", async () => {
  const pool = createPool({ url: "postgresql://nobody@127.0.0.1:9/nothing", connectionsMax: 1, log });
  const absent = start({ pool });
  await absent.stop();
  await pool.end();
});
