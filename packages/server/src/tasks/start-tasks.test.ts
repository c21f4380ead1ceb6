import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterEach, beforeEach, test } from "vitest";
import { createPool } from "../db/pool.ts";
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
      listener: { on: () => () => {}, onReset: () => () => {} },
      log,
      sweepMirrors: async () => {},
      fireAutomations: async () => 0,
      rollUsageUp: async () => 0,
      warnOfBudgets: async () => 0,
      listNewSites: async () => [],
      listDueSiteChecks: async () => [],
      checkSite: async () => {},
      listDueGates: async () => [],
      pollGate: async () => {},
      listDueClaims: async () => [],
      pollClaims: async () => {},
      learnFromReviews: async () => {},
      hearIssue: async () => {},
      answerIssue: async () => {},
      sendJobEmail: async () => {},
      hearChat: async () => {},
      showChat: async () => {},
      setDetails: async () => {},
      askAuthors: async () => {},
      answerComment: async () => {},
      answerMessage: async () => {},
      diagnoseProject: async () => {},
      tryServices: async () => {},
      ...deps,
    },
    { ageOf: async () => null, sweepMirrorsEveryMs: 20 },
  );
  tasks.push(started);
  return started;
}

test("every node sweeps its own folders repeatedly, even after a sweep that failed", async () => {
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
