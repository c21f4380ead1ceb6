// npm run simulate [-- --seed 1] [--write]: what saturates first, at one machine's load, ten times that, and the plan of
// docs/scale.md. npm run simulate -- --validate [--write]: the same simulation beside real processes on this machine.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import { seedJob, seedProject } from "@emend/testkit/seed-jobs.ts";
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import { spawnWorker } from "@emend/testkit/worker-control.ts";
import { readFigures, writeResults } from "../../site/bench/results.ts";
import { untilAllEnded } from "../chaos/post-job.ts";
import { startBenchDatabase } from "./database.ts";
import { machineBusyMs, postgresPid, processorMs } from "./processor-time.ts";
import { sections, writeSection } from "./sections.ts";
import { simulate } from "./simulation.ts";
import { type Costs, costsOf, type Fleet, type Load, type ScaleFigures } from "./simulation-model.ts";
import { planCommand, planSeed, simulatePlan } from "./simulation-plan.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(planSeed) },
    validate: { type: "boolean" },
    write: { type: "boolean" },
  },
});
const seed = Number(values.seed);
const figures = await readFigures<ScaleFigures>("scale");
if (!figures) throw new Error("docs/results/scale.json is missing. Run first: npm run bench -- scale --write");
if (values.validate) {
  const table = await validate(figures, costsOf(figures));
  const command = `npm run simulate -- --validate --seed ${seed} --write`;
  if (values.write) await writeResults("simulation-validated", command, { table });
} else {
  const found = simulatePlan(figures, seed);
  console.log(sections.simulation(found).table.join("\n"));
  if (values.write) await writeSection("simulation", planCommand(seed), found);
}

/** Scripted jobs through real workers and Postgres, and through the simulation with as many processors as were free. */
async function validate(figures: ScaleFigures, costs: Costs): Promise<string[]> {
  const slots = 4;
  const steps = 5;
  const table = [
    "| processes | a model's turn | processors left by others | predicted jobs/s | measured jobs/s | predicted / measured |",
    "|---:|---:|---:|---:|---:|---:|",
  ];
  const database = await startBenchDatabase("silent");
  try {
    await createFarEnds(database.pool);
    const postgres = await postgresPid(database.pool);
    const projects = await Promise.all(Array.from({ length: 16 }, () => seedProject(database.pool)));
    for (const turnMs of [1_000, 0]) {
      for (const count of [1, 2, 4]) {
        const jobs = turnMs > 0 ? count * slots * 3 : 40;
        const workers = await Promise.all(
          Array.from({ length: count }, (_, n) =>
            spawnWorker({
              databaseUrl: database.url,
              name: `${turnMs} ${count} ${n}`,
              options: { concurrency: slots, pollMs: 1_000 },
            }),
          ),
        );
        for (let n = 0; n < jobs; n += 1)
          await seedJob(database.pool, projects[n % projects.length] ?? "", JSON.stringify({ steps, turnMs }));
        const ours = () =>
          processorMs(postgres) + workers.reduce((sum, { child }) => sum + processorMs(child.pid ?? 0), 0);
        const before = { at: performance.now(), machine: machineBusyMs(), ours: ours() };
        await database.pool.query("select pg_notify('emend_job_due', '')");
        await untilAllEnded(database.pool);
        const ms = performance.now() - before.at;
        const others = (machineBusyMs() - before.machine - (ours() - before.ours)) / ms;
        await Promise.all(workers.map((worker) => worker.kill()));
        const free = Math.max(0.2, cpus().length - Math.max(0, others));
        const predicted = predict({ jobs, count, slots, steps, turnMs, free }, figures, costs);
        const measured = (jobs * 1000) / ms;
        table.push(
          `| ${count} | ${turnMs / 1000} s | ${free.toFixed(1)} of ${cpus().length} | ${predicted.toFixed(1)} | ${measured.toFixed(1)} | ${(predicted / measured).toFixed(2)} |`,
        );
        console.log(table.at(-1));
      }
    }
  } finally {
    await database.close();
  }
  return table;
}

function predict(
  run: { jobs: number; count: number; slots: number; steps: number; turnMs: number; free: number },
  figures: ScaleFigures,
  costs: Costs,
): number {
  const { jobs, count, slots, steps, turnMs, free } = run;
  const load: Load = {
    jobsPerSecond: 0,
    queuedAtStart: 100_000,
    steps,
    turnMs,
    turnSpread: 0,
    publishMs: 0,
    pollEveryMs: 0,
    projects: 16,
    lanes: 1_000,
  };
  const { commitMs } = figures.database;
  const fleet: Fleet = {
    apis: 1,
    workers: count,
    slots,
    workerCores: 1,
    databaseCores: count * slots,
    hostCores: free,
    commitMs,
    connectionsPerProcess: 6,
    listeners: count,
  };
  // The wait of a measured turn has its commit in it, which the simulation adds.
  const less = (waitMs = 0) => Math.max(0, waitMs - commitMs);
  const scripted: Costs = {
    ...costs,
    job: { ...figures.bareJob, waitMs: less(figures.bareJob.waitMs) },
    turn: { ...figures.step, waitMs: less(figures.step.waitMs) },
  };
  const report = simulate(load, fleet, scripted, {
    warmUpMs: 20_000,
    ms: Math.max(20_000, jobs * 100),
    random: seededRandom(seed),
  });
  return report.jobsPerSecond;
}
