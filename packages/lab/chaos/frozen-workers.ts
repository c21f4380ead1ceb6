import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { isFinal, shortTimes, spawnWorker, waitForJob } from "@emend/testkit/worker-control.ts";
import type { Pool } from "../../server/src/db/pool.ts";
import type { CrashPoint } from "../../server/src/run/crash-points.ts";
import { type Experiment, type Setting, scaled } from "./experiment.ts";
import { untilAllEnded } from "./post-job.ts";

/** The most critical first: a sample uses one round of them. */
const points: readonly CrashPoint[] = [
  "before-end",
  "after-commit-stored",
  "after-find",
  "after-create",
  "before-change-stored",
  "before-pull-request-stored",
  "after-push-stored",
  "before-commit",
  "before-step-stored",
  "after-step-stored",
];
const atOnce = 5;
const times = { ...shortTimes, crashesMax: 10_000, retriesMax: 10_000 };

export const frozenWorkers: Experiment = {
  name: "frozen-workers",
  claim:
    "100 workers frozen past their lease at ten points, then continued, beside a forge that loses answers: every write of theirs is refused, one branch and one pull request each",
  async run(setting) {
    const projectId = await seedProject(setting.pool, { lanes: 100 });
    for (let done = 0; done < scaled(100, setting); done += atOnce) {
      const round = Array.from({ length: atOnce }, (_, n) => points[(done + n) % points.length] as CrashPoint);
      await freezeRound(setting, projectId, round);
    }
  },
};

/** All workers freeze with a job. Another worker takes the jobs over, and only then they resume. */
async function freezeRound(setting: Setting, projectId: string, round: readonly CrashPoint[]): Promise<void> {
  const { pool, url, random, history } = setting;
  const spawn = (name: string, freezeAt?: CrashPoint) => {
    const forge = { lostShare: freezeAt ? 0 : 0.2, seed: Math.floor(random() * 1_000_000) };
    const options = { ...times, concurrency: freezeAt ? 1 : 2 * atOnce };
    return spawnWorker({ databaseUrl: url, name, forge, options, ...(freezeAt && { freezeAt }) });
  };
  for (const _ of round) {
    const script = { steps: 2 + Math.floor(random() * 2), turnMs: random() * 50 };
    history.add({ kind: "accepted", jobId: await seedJob(pool, projectId, JSON.stringify(script)) });
  }
  const id = history.entries().length;
  const frozen = await Promise.all(
    round.map(async (point, n) => {
      const name = `frozen ${id}-${n} at ${point}`;
      const worker = await spawn(name, point);
      await Promise.race([worker.logged("frozen"), worker.ended]);
      history.add({ kind: "fault", what: `a worker frozen at ${point}` });
      return { ...worker, name };
    }),
  );
  const survivor = await spawn(`survivor ${id}`);
  try {
    await Promise.all(
      frozen.map(async (worker) => {
        // Sometimes while the other worker is still running.
        const isEnded = random() < 0.7;
        await waitForJob(pool, await jobAboard(pool, worker.name), (job) => isFinal(job) || (!isEnded && job.runs > 1));
        worker.child.kill("SIGCONT");
        const settled = ["lease lost; another worker continues the run", "run ended"].map(worker.logged);
        await Promise.race([...settled, worker.ended]);
      }),
    );
    await untilAllEnded(pool);
  } finally {
    await Promise.all([...frozen, survivor].map((worker) => worker.kill()));
  }
}

async function jobAboard(pool: Pool, worker: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "select job_id as id from starts where worker = $1 order by at desc limit 1",
    [worker],
  );
  return rows[0]?.id ?? "";
}
