import { setTimeout as pause } from "node:timers/promises";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { shortTimes, spawnWorker, type WorkerProcess } from "@emend/testkit/worker-control.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import { type Experiment, type Setting, scaled } from "./experiment.ts";
import { untilAllEnded } from "./post-job.ts";

const workersAtOnce = 3;

export const workerKills: Experiment = {
  name: "worker-kills",
  claim: "1,000 jobs, 200 workers killed with -9: every job once, and none is blamed",
  async run(setting) {
    const { random } = setting;
    await seedJobs(setting, scaled(1000, setting), () => {
      const steps = 1 + Math.floor(random() * 4);
      return { steps, turnMs: 20 + random() * 60, publishMs: random() * 60 };
    });
    await killWorkers(setting, scaled(200, setting), { ...shortTimes, everyMs: () => random() * 300 });
  },
};

const failoverMsMax = 30_000;

export const failover: Experiment = {
  name: "failover",
  claim:
    "300 jobs, three workers, one killed every 1 to 2 s, 58 times, with the usual lease: running elsewhere within 30 s (p99)",
  async run(setting) {
    const { pool, random, history } = setting;
    await seedJobs(setting, scaled(300, setting), () => {
      const steps = 2 + Math.floor(random() * 4);
      return { steps, turnMs: 300 + random() * 600, publishMs: random() * 300 };
    });
    const kills = await killWorkers(setting, scaled(58, setting), { everyMs: () => 1_000 + random() * 1_000 });
    const waited = await failoversMs(pool, kills);
    const at = (share: number) => waited[Math.min(waited.length - 1, Math.floor(waited.length * share))] ?? 0;
    for (const [what, share] of [
      ["p50", 0.5],
      ["p99", 0.99],
      ["slowest", 1],
    ] as const)
      history.add({
        kind: "measured",
        what: `failover of ${waited.length} runs, ${what}`,
        value: at(share),
        unit: "ms",
      });
    history.add({ kind: "recovered", afterMs: at(0.99), msMax: failoverMsMax });
  },
};

export async function seedJobs({ pool, history }: Setting, count: number, script: () => object): Promise<void> {
  const projects = await Promise.all(Array.from({ length: 8 }, () => seedProject(pool)));
  for (let n = 0; n < count; n += 1) {
    const jobId = await seedJob(pool, projects[n % projects.length] ?? "", JSON.stringify(script()));
    history.add({ kind: "accepted", jobId });
  }
}

interface Kill {
  worker: string;
  at: Date;
}

export async function killWorkers(
  { pool, url, random, history }: Setting,
  count: number,
  { everyMs, ...times }: { everyMs(): number },
): Promise<readonly Kill[]> {
  const kills: Kill[] = [];
  let spawned = 0;
  const start = async (): Promise<WorkerProcess & { name: string }> => {
    spawned += 1;
    const name = `worker ${spawned}`;
    const forge = { lostShare: 0.1, seed: spawned };
    return { ...(await spawnWorker({ databaseUrl: url, name, forge, options: { ...times, concurrency: 4 } })), name };
  };
  const workers = await Promise.all(Array.from({ length: workersAtOnce }, start));
  try {
    for (let n = 0; n < count; n += 1) {
      await pause(everyMs());
      const index = Math.floor(random() * workers.length);
      const { rows } = await pool.query<{ at: Date }>("select clock_timestamp() as at");
      await workers[index]?.kill();
      kills.push({ worker: workers[index]?.name ?? "", at: rows[0]?.at ?? new Date() });
      history.add({ kind: "fault", what: "worker killed" });
      workers[index] = await start();
    }
    await untilAllEnded(pool);
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
  }
  return kills;
}

/** The time from each kill until each of its jobs started elsewhere, ascending. */
async function failoversMs(pool: Pool, kills: readonly Kill[]): Promise<readonly number[]> {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from min(next.created_at) - killed.at)::float * 1000 as ms
     from unnest($1::text[], $2::timestamptz[]) as killed (worker, at)
     join starts on starts.worker = killed.worker
     join job_events next on next.job_id = starts.job_id and kind = 'run.started' and next.created_at > killed.at
     where not exists (
       select from starts moved where moved.job_id = starts.job_id and moved.at > starts.at and moved.at <= killed.at
     )
     group by killed.worker, killed.at, starts.job_id order by ms`,
    [kills.map(({ worker }) => worker), kills.map(({ at }) => at)],
  );
  return rows.map(({ ms }) => ms);
}
