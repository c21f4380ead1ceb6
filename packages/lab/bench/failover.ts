// A worker killed with -9 → its job running in another process, with times as they are served. Aim: p99 ≤ 2 s.
import { setTimeout as pause } from "node:timers/promises";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { spawnWorker, waitForJob } from "@emend/testkit/worker-control.ts";
import { startBenchDatabase } from "./database.ts";
import { median } from "./measure.ts";

const rounds = 20;
const atATime = 5;
const database = await startBenchDatabase();
try {
  const { pool } = database;
  await createFarEnds(pool);
  const waits: number[] = [];
  for (let done = 0; done < rounds; done += atATime) {
    waits.push(...(await Promise.all(await startVictims())));
  }
  const sorted = waits.toSorted((a, b) => a - b);
  console.log(
    `kill -9 → running elsewhere, ${rounds} rounds: p50 ${(median(sorted) / 1000).toFixed(1)} s, p99 ${((sorted.at(-1) ?? Number.NaN) / 1000).toFixed(1)} s (aim 2)`,
  );

  /** Each victim has its own job. The survivor starts after all of them are running, and takes over. */
  async function startVictims(): Promise<Promise<number>[]> {
    await pool.query("update jobs set status = 'archived', lease = null where status = 'active'");
    const victims: { id: string; kill(): Promise<void> }[] = [];
    for (let n = 0; n < atATime; n += 1) {
      const id = await seedJob(pool, await seedProject(pool), JSON.stringify({ turnMs: 600_000 }));
      const worker = await spawnWorker({
        databaseUrl: database.url,
        name: `victim ${n}`,
        options: { concurrency: 1, pollMs: 1_000 },
      });
      await waitForJob(pool, id, (job) => job.phase === "working");
      victims.push({ id, kill: worker.kill });
    }
    const survivor = await spawnWorker({
      databaseUrl: database.url,
      name: "survivor",
      options: { concurrency: atATime, pollMs: 1_000 },
    });
    const waiting = victims.map((victim) => killAndWait(victim));
    void Promise.all(waiting).then(() => survivor.kill());
    return waiting;
  }

  async function killAndWait(victim: { id: string; kill(): Promise<void> }): Promise<number> {
    // At a random time between two renewals.
    await pause(Math.random() * 5_000);
    const killedAt = performance.now();
    await victim.kill();
    await waitForJob(pool, victim.id, (job) => job.runs === 2);
    return performance.now() - killedAt;
  }
} finally {
  await database.close();
}
