import { readdir, readFile } from "node:fs/promises";
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import { expect, test } from "vitest";
import { drawDots, drawLines } from "../../site/bench/plot.ts";
import { type Origin, sectionText } from "../../site/bench/results.ts";
import { sections } from "../bench/sections.ts";
import { simulate } from "../bench/simulation.ts";
import type { Costs, Fleet, Load, ScaleFigures } from "../bench/simulation-model.ts";
import { simulatePlan } from "../bench/simulation-plan.ts";

// `npm run simulate` in small. Its answers are compared with what can be worked out on paper.
const load: Load = {
  jobsPerSecond: 5,
  steps: 4,
  turnMs: 1_000,
  turnSpread: 0,
  publishMs: 500,
  pollEveryMs: 1_000,
  projects: 100,
  lanes: 4,
};
const fleet: Fleet = {
  apis: 1,
  workers: 4,
  slots: 20,
  workerCores: 2,
  databaseCores: 2,
  commitMs: 1,
  connectionsPerProcess: 10,
  listeners: 5,
};
const costs: Costs = {
  poll: { nodeMs: 1, postgresMs: 1 },
  create: { nodeMs: 2, postgresMs: 2 },
  job: { nodeMs: 100, postgresMs: 5 },
  turn: { nodeMs: 10, postgresMs: 2 },
  claimMs: 2,
  claimMsPerRun: 0,
  noticeMsPerListener: 0,
  renewalMs: 0,
};
const run = (changes: { load?: Partial<Load>; fleet?: Partial<Fleet>; costs?: Partial<Costs> } = {}) =>
  simulate(
    { ...load, ...changes.load },
    { ...fleet, ...changes.fleet },
    { ...costs, ...changes.costs },
    {
      warmUpMs: 20_000,
      ms: 60_000,
      random: seededRandom(42),
    },
  );
const use = (report: ReturnType<typeof run>, name: string) =>
  report.stations.find((station) => station.name === name)?.utilisation ?? Number.NaN;

test("the simulation follows the utilisation law, and the same seed gives the same report", () => {
  const report = run();
  expect(report.jobsPerSecond).toBeCloseTo(5, 0);
  // 5 jobs/s × (100 + 4 × 10) ms on 8 processors; 5/s × (1 commit of 1 ms and 5 notices of 0.05 ms); 5/s × 4.7 s in 80 slots.
  expect(use(report, "worker processors")).toBeCloseTo((5 * 0.14) / 8, 1);
  expect(use(report, "commits that notify")).toBeCloseTo(5 * 0.001_25, 2);
  expect(report.runningMean / (report.jobsPerSecond * 4.7)).toBeCloseTo(1, 1);
  expect(report.queueMs.p50).toBeLessThan(10);
  expect(run()).toEqual(report);
});

test("the simulation finds what saturates first", () => {
  expect(run({ load: { jobsPerSecond: 30 } }).first.name).toBe("worker slots");
  expect(run({ fleet: { workerCores: 1, workers: 1, slots: 200 }, load: { jobsPerSecond: 10 } }).first).toMatchObject({
    name: "worker processors",
    utilisation: expect.closeTo(1, 1),
  });
  const serialized = run({ fleet: { commitMs: 240 } });
  expect(serialized.first.name).toBe("commits that notify");
  expect(serialized.jobsPerSecond).toBeLessThan(4.5);
});

test("a queue is worked off twice as fast by twice the workers, until their machine has no more processors", () => {
  const closed = { jobsPerSecond: 0, queuedAtStart: 5_000, pollEveryMs: 0, lanes: 1_000 };
  const rate = (workers: number, turnMs: number) =>
    run({ load: { ...closed, turnMs }, fleet: { workers, slots: 4, workerCores: 1, hostCores: 2 } }).jobsPerSecond;
  expect(rate(2, 1_000) / rate(1, 1_000)).toBeCloseTo(2, 0);
  expect(rate(8, 0) / rate(4, 0)).toBeCloseTo(1, 0);
});

test("a plot names its lines and has no figure that is none", () => {
  const lines = drawLines({
    title: "Cost <of> it",
    x: "pages",
    y: "ms",
    log: "both",
    lines: [
      {
        name: "ours",
        points: [
          [10, 1],
          [1_000, 90],
        ],
      },
      {
        name: "theirs",
        points: [
          [10, 1.1],
          [1_000, 91],
        ],
      },
    ],
    level: { name: "aim", y: 50 },
  });
  const dots = drawDots("Side by side", [
    {
      title: "Start",
      unit: "ms",
      rows: [
        { name: "ours", value: 3, low: 1, high: 20 },
        { name: "theirs", value: null, note: "never" },
      ],
    },
  ]);
  for (const svg of [lines, dots]) {
    expect(svg).toMatch(/>ours<[\s\S]*>theirs</);
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  }
  expect(lines).toContain("Cost &lt;of> it");
});

const docs = new URL("../../../docs/", import.meta.url);
const readDoc = (path: string) => readFile(new URL(path, docs), "utf8");

test("every recorded table and plot is drawn from its figures (npm run bench -- redraw)", async () => {
  const files = (await readdir(new URL("results/", docs))).filter((file) => file.endsWith(".json"));
  expect(files).toContain("simulation.json");
  for (const file of files) {
    const name = file.replace(".json", "");
    const { machine, command, ...figures } = JSON.parse(await readDoc(`results/${file}`)) as Origin;
    const written = sections[name as keyof typeof sections](figures as never);
    expect(await readDoc(written.page ?? "results.md")).toContain(sectionText(name, written, { machine, command }));
    if (written.plot) expect(await readDoc(`results/${name}.svg`)).toBe(written.plot.svg);
  }
});

test("the plan's table is what the simulation computes from the recorded costs (npm run simulate -- --write)", async () => {
  const recorded = JSON.parse(await readDoc("results/simulation.json"));
  const costs = JSON.parse(await readDoc("results/scale.json")) as ScaleFigures;
  const seed = Number(/--seed (\d+)/.exec(recorded.command)?.[1]);
  // The larger loads of the same table take seconds.
  const { cases } = simulatePlan(costs, seed, 1);
  expect(JSON.parse(JSON.stringify(cases))).toEqual(recorded.cases.slice(0, 1));
});
