import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { createFarEnds, scriptedStages } from "@emend/testkit/scripted-stages.ts";
import { readEvents, readJob, seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { quickRows } from "@emend/testkit/tier.ts";
import { expireLeases, isFinal, spawnWorker, waitForJob } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";
import { startListener } from "../src/db/listener.ts";
import type { Pool } from "../src/db/pool.ts";
import type { CrashPoint } from "../src/run/crash-points.ts";
import { startWorker } from "../src/run/worker.ts";

/** Each with the cost that the crash may have: a turn that was not stored yet, or an identical push. */
const points: readonly { at: CrashPoint | `${CrashPoint}:${number}`; turns: readonly number[]; pushes: number }[] = [
  { at: "after-claim", turns: [1, 2], pushes: 1 },
  { at: "after-base-pinned", turns: [1, 2], pushes: 1 },
  { at: "before-step-stored", turns: [1, 1, 2], pushes: 1 },
  { at: "after-step-stored", turns: [1, 2], pushes: 1 },
  { at: "before-step-stored:2", turns: [1, 2, 2], pushes: 1 },
  { at: "before-review", turns: [1, 2], pushes: 1 },
  { at: "after-review", turns: [1, 2], pushes: 1 },
  { at: "after-change-stored", turns: [1, 2], pushes: 1 },
  { at: "before-commit", turns: [1, 2], pushes: 1 },
  { at: "after-commit-stored", turns: [1, 2], pushes: 1 },
  { at: "before-push", turns: [1, 2], pushes: 1 },
  { at: "after-push", turns: [1, 2], pushes: 2 },
  { at: "before-create", turns: [1, 2], pushes: 2 },
  { at: "after-create", turns: [1, 2], pushes: 2 },
  { at: "after-pull-request-stored", turns: [1, 2], pushes: 2 },
  { at: "before-end", turns: [1, 2], pushes: 2 },
];

test.concurrent.for(quickRows(points, 4))(
  "a worker that dies at $at leaves one pull request and repeats no stored step",
  async ({ at, turns, pushes }, { onTestFinished }) => {
    const { database, id } = await scene(onTestFinished);
    const doomed = await spawnWorker({ databaseUrl: database.url, name: "doomed", crashAt: at });
    expect(await doomed.ended).toBe("SIGKILL");
    expect(await readJob(database.pool, id)).toMatchObject({ status: "active", runs: 1 });

    await expireLeases(database.pool);
    await recover(database, onTestFinished);
    const ended = await waitForJob(database.pool, id, isFinal);
    expect(ended).toMatchObject({ status: "completed", crashes: 1, runs: 2, pr_link: `http://forge.test/${id}` });
    const { rows } = await database.pool.query("select number from turns order by number");
    expect(rows.map((row) => row.number)).toEqual(turns);
    expect(await count(database.pool, "pushes")).toBe(pushes);
    expect(await count(database.pool, "pulls")).toBe(1);
    expect((await readEvents(database.pool, id)).filter(({ kind }) => kind === "completed")).toHaveLength(1);
  },
);

test.concurrent("a worker that dies right after the end leaves no work", async ({ onTestFinished }) => {
  const { database, id } = await scene(onTestFinished);
  const doomed = await spawnWorker({ databaseUrl: database.url, name: "doomed", crashAt: "after-end" });
  expect(await doomed.ended).toBe("SIGKILL");
  expect(await readJob(database.pool, id)).toMatchObject({ status: "completed", runs: 1, crashes: 0, lease: null });
});

type AtTheEnd = (cleanUp: () => Promise<void>) => void;

async function scene(atTheEnd: AtTheEnd): Promise<{ database: TestDatabase; id: string }> {
  const database = await createTestDatabase();
  atTheEnd(() => database.drop());
  await createFarEnds(database.pool);
  const id = await seedJob(database.pool, await seedProject(database.pool), JSON.stringify({ steps: 2 }));
  return { database, id };
}

async function recover(database: TestDatabase, atTheEnd: AtTheEnd): Promise<void> {
  const log = createLogger({ level: "silent" });
  const listener = await startListener({ url: database.url, log });
  const crashPoint = () => {};
  const stages = scriptedStages({ pool: database.pool, worker: "second", crashPoint });
  const worker = startWorker(
    { pool: database.pool, databaseUrl: database.url, listener, log, stages, crashPoint },
    { concurrency: 1, pollMs: 50 },
  );
  atTheEnd(async () => {
    await worker.stop();
    await listener.close();
  });
}

async function count(pool: Pool, table: "pushes" | "pulls"): Promise<number> {
  return Number((await pool.query(`select count(*) from ${table}`)).rows[0].count);
}
