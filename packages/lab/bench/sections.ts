// How docs/results.md and docs/scale.md show the figures that stand in docs/results: the tables and the plots. A command that
// measures gives its figures to `writeSection`; a test draws all of them again.
import { drawDots, drawLines } from "../../site/bench/plot.ts";
import { type SiteFigures, siteSection } from "../../site/bench/report.ts";
import { type Origin, readFigures, type Written, writeResults } from "../../site/bench/results.ts";
import { isGood, type Verdict } from "../chaos/judge.ts";
import { median } from "./measure.ts";
import { perProcessorSecond, type Report, type ScaleFigures, scaleTable } from "./simulation-model.ts";

interface Spread {
  p10: number;
  p50: number;
  p90: number;
}

export interface RivalFigures {
  waitMsMax: number;
  queues: readonly {
    name: string;
    version: string;
    enqueueMs: Spread;
    dispatchMs: Spread;
    /** Null: not within the time that was waited. */
    failoverS: number | null;
    frozenEffects: number | null;
  }[];
}

export interface StartSample {
  ms: number;
  processorMs: number;
  memoryMb: number;
}

export interface StartFigures {
  samples: Readonly<Record<string, readonly StartSample[]>>;
  waiting: number;
  megabytesForEachWaitingJob: number;
}

export interface HistoryFigures {
  eventsPerJob: number;
  /** Ascending; the last is the table's. */
  sizes: readonly { jobs: number; queued: number; projects: number }[];
  operations: Readonly<Record<string, { emptyMs: number; ofSizes: readonly { ms: number; ratio: number }[] }>>;
}

export interface ChaosFigures {
  experiments: Readonly<
    Record<string, Verdict & { machine: string; scale: number; seed: number; measured: readonly string[] }>
  >;
}

export interface GuardFigures {
  guards: Readonly<Record<string, { experiment: string; verdict: string; day: string; seed: number }>>;
}

export interface ClusterFigures {
  strikes: readonly {
    what: string;
    /** From the fault until Patroni has another primary. Null: the primary stays. */
    newPrimaryMs: number | null;
    /** From then, or from the fault, until a create is accepted. */
    acceptedMs: number;
    /** The longest time without an accepted create. */
    pauseMs: number;
  }[];
  verdict: Verdict;
}

export interface SimulationFigures {
  cases: readonly { name: string; jobsPerSecond: number; report: Report }[];
}

interface Figures {
  rivals: RivalFigures;
  start: StartFigures;
  history: HistoryFigures;
  scale: ScaleFigures;
  chaos: ChaosFigures;
  guards: GuardFigures;
  cluster: ClusterFigures;
  simulation: SimulationFigures;
  site: SiteFigures;
}
type Section = keyof Figures;

export const sections: { readonly [Name in Section]: (figures: Figures[Name]) => Written } = {
  rivals: ({ queues, waitMsMax }) => {
    const waited = `within ${waitMsMax / 1000} s`;
    const spread = ({ p10, p50, p90 }: Spread) => `${p50.toFixed(1)} ms (${p10.toFixed(1)}–${p90.toFixed(1)})`;
    const dots = (of: "enqueueMs" | "dispatchMs") =>
      queues.map((queue) => ({ name: queue.name, value: queue[of].p50, low: queue[of].p10, high: queue[of].p90 }));
    return {
      table: [
        "| queue | enqueue: median (10–90 %) | enqueue → handler in another process | kill -9 → running elsewhere | a frozen worker wakes: effects |",
        "|---|---:|---:|---:|---:|",
        ...queues.map(
          ({ version, enqueueMs, dispatchMs, failoverS, frozenEffects }) =>
            `| ${version} | ${spread(enqueueMs)} | ${spread(dispatchMs)} | ${failoverS === null ? `not ${waited}` : `${failoverS.toFixed(1)} s`} | ${frozenEffects ?? `not taken over ${waited}`} |`,
        ),
      ],
      plot: {
        svg: drawDots("Queues side by side: median and 10–90 %, less is better", [
          { title: "Enqueue", unit: "ms", rows: dots("enqueueMs") },
          { title: "Enqueue → handler in another process", unit: "ms", rows: dots("dispatchMs") },
          {
            title: "kill -9 → running elsewhere",
            unit: "s",
            rows: queues.map(({ name, failoverS }) => ({
              name,
              value: failoverS,
              ...(failoverS === null && { note: `not ${waited}` }),
            })),
          },
        ]),
        says: "Enqueue, dispatch and failover of each queue, on a scale of tens",
      },
    };
  },

  start: ({ samples, waiting, megabytesForEachWaitingJob }) => {
    const values = (of: readonly StartSample[], what: keyof StartSample) => of.map((sample) => sample[what]);
    const spread = (of: readonly number[]) =>
      `${median(of).toFixed(0)} (${Math.min(...of).toFixed(0)}–${Math.max(...of).toFixed(0)})`;
    const panel = (title: string, unit: string, what: keyof StartSample) => ({
      title,
      unit,
      rows: Object.entries(samples).map(([name, all]) => {
        const of = values(all, what);
        const short = name.replace(/ \(.*/, "").replace("a job of Emend, server", "Emend,");
        return { name: short, value: median(of), low: Math.min(...of), high: Math.max(...of) };
      }),
    });
    return {
      table: [
        "| until the first request reaches the model | ms: median (least–most) | ms of processor time | memory, MB |",
        "|---|---:|---:|---:|",
        ...Object.entries(samples).map(
          ([name, all]) =>
            `| ${name} | ${spread(values(all, "ms"))} | ${spread(values(all, "processorMs"))} | ${spread(values(all, "memoryMb"))} |`,
        ),
        "",
        `Each of ${waiting} jobs that wait for their model at once adds ${megabytesForEachWaitingJob.toFixed(1)} MB to the server.`,
      ],
      plot: {
        svg: drawDots("Until the first request reaches the model: median, least and most", [
          panel("Processor time", "ms", "processorMs"),
          panel("Time", "ms", "ms"),
          panel("Memory", "MB", "memoryMb"),
        ]),
        says: "Time, processor time and memory of Emend, Claude Code and Codex until their first request",
      },
    };
  },

  history: ({ eventsPerJob, sizes, operations }) => {
    const largest = sizes.at(-1) ?? { jobs: 0, queued: 0, projects: 0 };
    const count = (value: number) => value.toLocaleString("en");
    const rows = Object.entries(operations);
    return {
      table: [
        `| ${count(largest.jobs)} finished jobs, ${count(largest.jobs * eventsPerJob)} events, ${count(largest.queued)} queued jobs, ${count(largest.projects)} projects | empty | large | ratio |`,
        "|---|---:|---:|---:|",
        ...rows.map(([name, { emptyMs, ofSizes }]) => {
          const { ms = Number.NaN, ratio = Number.NaN } = ofSizes.at(-1) ?? {};
          return `| ${name} | ${emptyMs.toFixed(1)} ms | ${ms.toFixed(1)} ms | ${ratio.toFixed(1)}× |`;
        }),
      ],
      plot: {
        svg: drawLines({
          title: "With a history: how much longer than with none",
          x: "finished jobs",
          y: "times as long",
          log: "x",
          lines: rows.map(([name, { ofSizes }]) => ({
            name,
            points: ofSizes.map(({ ratio }, n) => [sizes[n]?.jobs ?? 0, ratio] as const),
          })),
          level: { name: "aim: at most 2", y: 2 },
        }),
        says: "How much longer each request takes with a history than with none, by the number of finished jobs",
      },
    };
  },

  scale: (figures) => ({
    table: [scaleTable(figures)],
    plot: {
      svg: drawLines({
        title: "One Postgres, more processes: work done by a second of processor time",
        x: "processes",
        y: "against one process",
        lines: (["poll", "create", "job"] as const).map((name) => {
          const rates = figures.processes.map((one) => [one.count, perProcessorSecond(one[name])] as const);
          const alone = rates[0]?.[1] ?? Number.NaN;
          return {
            name: `${name}s: ${alone.toFixed(0)} with one`,
            points: rates.map(([count, rate]) => [count, rate / alone] as const),
          };
        }),
      }),
      says: "Polls, creates and jobs for a second of processor time, with 1, 2 and 4 processes, against one process",
    },
  }),

  chaos: ({ experiments }) => ({
    table: [
      "| experiment | scale | verdict | jobs | faults | lost | duplicated | unexpected | recovery: p99 of `failover`, slowest of others | measured | day, seed |",
      "|---|---:|---|---:|---:|---:|---:|---:|---:|---|---|",
      ...Object.entries(experiments).map(([name, one]) => {
        const slowest = one.recoveredMs.length > 0 ? `${(Math.max(...one.recoveredMs) / 1000).toFixed(1)} s` : "";
        const verdict = isGood(one) ? "held" : "BROKEN";
        return `| ${name} | ${one.scale} | ${verdict} | ${one.jobs} | ${one.faults} | ${one.lost} | ${one.duplicated} | ${one.unexpected.length} | ${slowest} | ${one.measured.join("; ")} | ${one.machine.slice(0, 10)}, ${one.seed} |`;
      }),
    ],
  }),

  guards: ({ guards }) => ({
    table: [
      "| without | experiment | the checker's verdict | day, seed |",
      "|---|---|---|---|",
      ...Object.entries(guards).map(
        ([name, { experiment, verdict, day, seed }]) => `| ${name} | ${experiment} | ${verdict} | ${day}, ${seed} |`,
      ),
    ],
  }),

  cluster: ({ strikes, verdict }) => {
    const seconds = (ms: number | null) => (ms === null ? "stays" : `${(ms / 1000).toFixed(1)} s`);
    return {
      table: [
        "| fault | new primary after | first accepted create, from then | longest pause between accepted creates |",
        "|---|---:|---:|---:|",
        ...strikes.map(
          ({ what, newPrimaryMs, acceptedMs, pauseMs }) =>
            `| ${what} | ${seconds(newPrimaryMs)} | ${seconds(acceptedMs)} | ${seconds(pauseMs)} |`,
        ),
        "",
        `${isGood(verdict) ? "Held" : "BROKEN"}: ${verdict.jobs} jobs, ${verdict.lost} lost, ${verdict.duplicated} duplicated, ${verdict.unexpected.length} unexpected.`,
      ],
    };
  },

  simulation: ({ cases }) => ({
    page: "scale.md",
    table: [
      "| load (a day's peak) | jobs/s in → done | running | processors in use: api, worker, database | commits that notify | slots in use | queue wait p50, p99 | connections in use | first to saturate |",
      "|---|---:|---:|---:|---:|---:|---:|---:|---|",
      ...cases.map(({ name, jobsPerSecond, report }) => simulationRow(name, jobsPerSecond, report)),
    ],
  }),

  site: siteSection,
};

export function writeSection<Name extends Section>(name: Name, command: string, figures: Figures[Name]): Promise<void> {
  return writeResults(name, command, sections[name](figures), figures);
}

/** Writes all tables and plots again from the figures that stand in docs/results. */
export async function redrawSections(): Promise<void> {
  for (const [name, section] of Object.entries(sections)) {
    const recorded = await readFigures<object>(name);
    if (!recorded) continue;
    const { machine, command, ...figures }: Origin = recorded;
    await writeResults(name, command, section(figures as never), figures, machine);
  }
}

function simulationRow(name: string, jobsPerSecond: number, report: Report): string {
  const use = (station: string) => {
    const found = report.stations.find((one) => one.name === station);
    return found ? `${(found.utilisation * 100).toFixed(0)} % of ${found.servers}` : "";
  };
  const seconds = (ms: number) => (ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1000).toFixed(1)} s`);
  const share = report.first.utilisation;
  const until = share < 0.98 ? `, at ${(1 / share).toFixed(1)}× this load` : ": saturated";
  return `| ${[
    name,
    `${jobsPerSecond.toFixed(1)} → ${report.jobsPerSecond.toFixed(1)}`,
    report.runningMean.toFixed(0),
    ["api", "worker", "database"].map((one) => use(`${one} processors`)).join(", "),
    use("commits that notify").replace(" of 1", ""),
    use("worker slots"),
    `${seconds(report.queueMs.p50)}, ${seconds(report.queueMs.p99)}`,
    report.connections,
    `${report.first.name}${until}`,
  ].join(" | ")} |`;
}
