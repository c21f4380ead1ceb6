import { setTimeout as pause } from "node:timers/promises";
import { seedJob, seedProject } from "../test/support/seed-jobs.ts";
import { shortTimes, spawnWorker, type WorkerProcess } from "../test/support/worker-control.ts";
import { type Experiment, scaled } from "./experiment.ts";
import { untilAllEnded } from "./until-all-ended.ts";

const workersAtOnce = 3;
/** A job is failed after three crashes so that a poisoned one cannot take workers down for ever; here no job is to blame. */
const options = { ...shortTimes, crashesMax: 10_000, concurrency: 4 };

export const workerKills: Experiment = {
  name: "worker-kills",
  claim: "1,000 jobs, 200 workers killed with -9: every job once",
  async run(setting) {
    const { pool, url, random, history } = setting;
    const [jobs, kills] = [scaled(1000, setting), scaled(200, setting)];
    const projects = await Promise.all(Array.from({ length: 8 }, () => seedProject(pool)));
    for (let n = 0; n < jobs; n += 1) {
      const script = { steps: 1 + Math.floor(random() * 4), turnMs: 20 + random() * 60, publishMs: random() * 60 };
      const jobId = await seedJob(pool, projects[n % projects.length] ?? "", JSON.stringify(script));
      history.add({ kind: "accepted", jobId });
    }
    let spawned = 0;
    const start = (): Promise<WorkerProcess> => {
      spawned += 1;
      return spawnWorker({ databaseUrl: url, name: `worker ${spawned}`, options });
    };
    const workers = await Promise.all(Array.from({ length: workersAtOnce }, start));
    try {
      for (let n = 0; n < kills; n += 1) {
        await pause(random() * 300);
        const index = Math.floor(random() * workers.length);
        await workers[index]?.kill();
        history.add({ kind: "fault", what: "worker killed" });
        workers[index] = await start();
      }
      await untilAllEnded(pool);
    } finally {
      await Promise.all(workers.map((worker) => worker.kill()));
    }
  },
};
