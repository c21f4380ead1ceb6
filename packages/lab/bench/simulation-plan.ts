// The loads and fleets of docs/scale.md, computed from the figures of `npm run bench -- scale`.
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import type { SimulationFigures } from "./sections.ts";
import { simulate } from "./simulation.ts";
import { costsOf, type Fleet, type Load, type ScaleFigures } from "./simulation-model.ts";

export const planSeed = 1;
export const planCommand = (seed: number) => `npm run simulate -- --seed ${seed} --write`;

/** A day's peak is three times its mean. */
const peak = 3;

function loadOf(jobsPerDay: number, projects: number): Load {
  return {
    jobsPerSecond: (jobsPerDay / 86_400) * peak,
    steps: 8,
    turnMs: 6_000,
    turnSpread: 0.6,
    publishMs: 3_000,
    pollEveryMs: 5_000,
    projects,
    lanes: 4,
  };
}

function fleetOf(apis: number, workers: number, databaseCores: number): Fleet {
  return {
    apis,
    workers,
    slots: 128,
    workerCores: 2,
    databaseCores,
    commitMs: 1,
    connectionsPerProcess: 12,
    // Workers listen to no changes of jobs.
    listeners: apis,
  };
}

/** Without `casesMax`, all cases of the plan. The largest take seconds. */
export function simulatePlan(figures: ScaleFigures, seed: number, casesMax?: number): SimulationFigures {
  const costs = costsOf(figures);
  const largest = loadOf(10_000_000, 100_000);
  const cases = [
    { name: "1×: 10⁵ jobs per day, 10³ projects", load: loadOf(100_000, 1_000), fleet: fleetOf(1, 3, 4), costs },
    { name: "10×: 10⁶ jobs per day, 10⁴ projects", load: loadOf(1_000_000, 10_000), fleet: fleetOf(2, 24, 16), costs },
    { name: "plan: 10⁷ jobs per day, 10⁵ projects", load: largest, fleet: fleetOf(12, 256, 96), costs },
  ];
  return {
    cases: cases.slice(0, casesMax).map(({ name, load, fleet, costs }) => {
      const times = { warmUpMs: 100_000, ms: 30_000, random: seededRandom(seed) };
      return { name, jobsPerSecond: load.jobsPerSecond, report: simulate(load, fleet, costs, times) };
    }),
  };
}
