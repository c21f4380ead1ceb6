// npm run simulate [-- --seed 1] [--write]: what saturates first, at one machine's load, ten times that, and the plan of
// docs/scale.md. npm run simulate -- --validate [--write]: the same simulation beside real processes on this machine.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { seededRandom } from "../chaos/experiment.ts";
import { untilAllEnded } from "../chaos/until-all-ended.ts";
import { createFarEnds } from "../test/support/scripted-stages.ts";
import { seedJob, seedProject } from "../test/support/seed-jobs.ts";
import { spawnWorker } from "../test/support/worker-control.ts";
import { startBenchDatabase } from "./database.ts";
import { machineBusyMs, postgresPid, processorMs } from "./processor-time.ts";
import { readFigures, writeResults } from "./results.ts";
import { simulate } from "./simulation.ts";
import { type Costs, costsOf, type Fleet, type Load, type Report, type ScaleFigures } from "./simulation-model.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    validate: { type: "boolean" },
    write: { type: "boolean" },
  },
});
const seed = Number(values.seed);
const figures = await readFigures<ScaleFigures>("scale");
if (!figures) throw new Error("docs/results/scale.json is missing. Run first: npm run bench -- scale --write");
const costs = costsOf(figures);
const lines = values.validate ? await validate(figures, costs) : plan(costs);
console.log(lines.join("\n"));
if (values.write) {
  const command = `npm run simulate --${values.validate ? " --validate" : ""} --seed ${seed} --write`;
  const section = values.validate ? "simulation-validated" : "simulation";
  await writeResults(section, command, lines.join("\n"), { page: values.validate ? "results.md" : "scale.md" });
}

/** The loads and fleets of docs/scale.md. A day's peak is three times its mean. */
function plan(costs: Costs): string[] {
  const peak = 3;
  const load = (jobsPerDay: number, projects: number): Load => ({
    jobsPerSecond: (jobsPerDay / 86_400) * peak,
    steps: 8,
    turnMs: 6_000,
    turnSpread: 0.6,
    publishMs: 3_000,
    pollEveryMs: 5_000,
    projects,
    lanes: 4,
  });
  const fleet = (apis: number, workers: number, databaseCores: number): Fleet => ({
    apis,
    workers,
    slots: 128,
    workerCores: 2,
    databaseCores,
    commitMs: 1,
    connectionsPerProcess: 12,
    notices: "each",
    listeners: apis + workers,
  });
  const largest = load(10_000_000, 100_000);
  const cases: [name: string, Load, Fleet, Costs][] = [
    ["1×: 10⁵ jobs per day, 10³ projects", load(100_000, 1_000), fleet(1, 3, 4), costs],
    ["10×: 10⁶ jobs per day, 10⁴ projects", load(1_000_000, 10_000), fleet(2, 24, 16), costs],
    ["plan: 10⁷ jobs per day, 10⁵ projects, code of today", largest, fleet(12, 240, 96), costs],
    [
      "plan, with the three changes below",
      largest,
      { ...fleet(12, 240, 96), notices: "together", listeners: 12 },
      { ...costs, claimMsPerRun: 0, renewalMs: costs.renewalMs / 4 },
    ],
  ];
  const table = [
    "| load (a day's peak) | jobs/s in → done | running | processors in use: api, worker, database | commits that notify | slots in use | queue wait p50, p99 | connections in use | first to saturate |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---|",
  ];
  for (const [name, load, fleet, costs] of cases) {
    const times = { warmUpMs: 100_000, ms: 30_000, random: seededRandom(seed) };
    table.push(row(name, load, simulate(load, fleet, costs, times)));
  }
  return table;
}

function row(name: string, load: Load, report: Report): string {
  const use = (station: string) => {
    const found = report.stations.find((one) => one.name === station);
    return found ? `${(found.utilisation * 100).toFixed(0)} % of ${found.servers}` : "";
  };
  const seconds = (ms: number) => (ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`);
  const share = report.first.utilisation;
  const until = share < 0.98 ? `, at ${(1 / share).toFixed(1)}× this load` : ": saturated";
  return `| ${[
    name,
    `${load.jobsPerSecond.toFixed(1)} → ${report.jobsPerSecond.toFixed(1)}`,
    report.runningMean.toFixed(0),
    ["api", "worker", "database"].map((one) => use(`${one} processors`)).join(", "),
    use("commits that notify").replace(" of 1", ""),
    use("worker slots"),
    `${seconds(report.queueMs.p50)}, ${seconds(report.queueMs.p99)}`,
    report.connections,
    `${report.first.name}${until}`,
  ].join(" | ")} |`;
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
    notices: "each",
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
