import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { spawnWorker, type WorkerProcess } from "@emend/testkit/worker-control.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { measureQueue } from "../src/metrics/measure.ts";
import { createMetrics, startMetricsServer } from "../src/metrics/metrics.ts";

const scaledObject = readFileSync(
  new URL("../../../deploy/kubernetes/autoscaling/scaled-object.yaml", import.meta.url),
  "utf8",
);
const [, threshold = ""] = /^ {8}threshold: "(\d+)"$/m.exec(scaledObject) ?? [];
const [, query = ""] = /^ {8}query: max\((.*)\)$/m.exec(scaledObject) ?? [];
const [min, max] = [1, 3];

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startMetricsServer>>;
const workers: WorkerProcess[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
  const metrics = createMetrics();
  measureQueue(metrics, database.pool);
  server = await startMetricsServer({ metrics, token: null }, { host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  for (const worker of workers) await worker.kill();
  await server.close();
  await database.drop();
});

/** What Prometheus computes from `a{…} + b{…}` with the metrics of one node. */
async function measure(): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  const text = await response.text();
  const values = [...query.matchAll(/(emend_\w+)\{/g)].map(([, name]) =>
    Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "m").exec(text)?.[1]),
  );
  expect(values).toHaveLength(2);
  return values.reduce((sum, value) => sum + value);
}

test("workers come and go by the metric that the autoscaler reads, and no job is lost or blamed", async () => {
  const { pool, url: databaseUrl } = database;
  await createFarEnds(pool);
  const projectId = await seedProject(pool, { lanes: 100 });
  const jobs = Number(threshold) * max;
  for (let n = 0; n < jobs; n += 1) await seedJob(pool, projectId, JSON.stringify({ steps: 3, turnMs: 100 }));

  let most = 0;
  let stopped = 0;
  for (;;) {
    const due = await measure();
    const wanted = Math.min(max, Math.max(min, Math.ceil(due / Number(threshold))));
    most = Math.max(most, wanted);
    const missing = Array.from({ length: wanted - workers.length }, (_, n) => n);
    const options = { concurrency: 4 };
    workers.push(...(await Promise.all(missing.map((n) => spawnWorker({ databaseUrl, name: `w${n}`, options })))));
    for (const worker of workers.splice(wanted)) {
      worker.child.kill("SIGTERM");
      expect(await worker.ended).toBe(0);
      stopped += 1;
    }
    if (due === 0) break;
    await pause(20);
  }
  expect({ most, stopped }).toEqual({ most: max, stopped: max - min });
  const { rows } = await pool.query(
    `select count(*)::int as jobs, count(*) filter (where status = 'completed')::int as completed,
       sum(crashes)::int as crashes, (select count(distinct job_id)::int from pulls) as pulls,
       (select count(*)::int from turns) as turns
     from jobs`,
  );
  expect(rows[0]).toEqual({ jobs, completed: jobs, crashes: 0, pulls: jobs, turns: jobs * 3 });
});
