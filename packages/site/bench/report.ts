import { drawLines } from "./plot.ts";
import type { Written } from "./results.ts";

export interface Measured {
  pages: number;
  bytes: number;
  readMs: number;
  readCpuMs: number;
  coldMs: number;
  coldCpuMs: number;
  warmMs: number;
  rssMb: number;
  /** The most that it ever had. */
  rssMaxMb: number;
  loopMaxMs: number;
  loopOwnMs: number;
  renameMs: number;
  renamedLinks: number;
}

/** The best of several runs, figure by figure: what else the machine did then is in all but the best. */
export function bestOf(runs: readonly Measured[]): Measured {
  const [first] = runs;
  if (first === undefined) throw new Error("there was no run");
  const best = { ...first };
  for (const key of Object.keys(first) as (keyof Measured)[]) best[key] = Math.min(...runs.map((run) => run[key]));
  return best;
}

export interface SiteFigures {
  site: Measured;
  large: Measured;
  /** Our check of plain Markdown and then remark-validate-links, round by round; empty without remark. */
  besideRemark: readonly { ours: { ms: number; cpuMs: number }; remark: { ms: number; cpuMs: number } }[];
  /** Sites of the same kind, from the smallest to `site`. */
  growth: readonly Measured[];
}

interface Row {
  what: string;
  figure: string;
  aim: string;
  isMet: boolean;
}

/** The figures against their aims. Ratios are of times taken in the same runs on one machine. */
function rowsOf({ site, large, besideRemark }: SiteFigures): Row[] {
  const cold = site.coldMs / site.readMs;
  const faster = site.coldMs / site.warmMs;
  const rows: Row[] = [
    {
      what: "cold check against merely reading the bytes",
      figure: `${cold.toFixed(2)}×`,
      aim: "≤ 3×",
      isMet: cold <= 3,
    },
    {
      what: "re-check after one edit",
      figure: `${site.warmMs.toFixed(0)} ms`,
      aim: "≤ 50 ms",
      isMet: site.warmMs <= 50,
    },
    {
      what: "re-check after one edit, faster than cold",
      figure: `${faster.toFixed(0)}×`,
      aim: "≥ 100×",
      isMet: faster >= 100,
    },
    {
      what: `memory after the cold check of ${large.pages} pages (at most)`,
      figure: `${large.rssMb.toFixed(0)} (${large.rssMaxMb.toFixed(0)}) MB`,
      aim: "≤ 300 MB",
      isMet: large.rssMaxMb <= 300,
    },
    {
      what: "longest hold of the event loop (own time)",
      figure: `${site.loopOwnMs.toFixed(0)} ms`,
      aim: "≤ 50 ms",
      isMet: site.loopOwnMs <= 50,
    },
    {
      what: `rename of a page with ${site.renamedLinks} inbound links`,
      figure: `${site.renameMs.toFixed(0)} ms`,
      aim: "< 1000 ms",
      isMet: site.renameMs < 1000,
    },
  ];
  const ratio = middle(besideRemark.map(({ ours, remark }) => remark.ms / ours.ms));
  if (besideRemark.length > 0)
    rows.push({
      what: "cold check of plain Markdown, faster than remark-validate-links",
      figure: `${ratio.toFixed(0)}×`,
      aim: "≥ 20×",
      isMet: ratio >= 20,
    });
  return rows;
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The table of figures, and how they grow with the pages. */
export function siteSection(figures: SiteFigures): Written {
  const { site, besideRemark } = figures;
  const processor = middle(besideRemark.map(({ ours, remark }) => remark.cpuMs / ours.cpuMs));
  return {
    table: [
      `| ${site.pages} pages, ${(site.bytes / 1e6).toFixed(1)} MB | figure | aim | met |`,
      "|---|---:|---:|---|",
      ...rowsOf(figures).map(
        ({ what, figure, aim, isMet }) => `| ${what} | ${figure} | ${aim} | ${isMet ? "yes" : "no"} |`,
      ),
      "",
      `Read ${site.readMs.toFixed(0)} ms, cold ${site.coldMs.toFixed(0)} ms (processor: ${site.readCpuMs.toFixed(0)} and ${site.coldCpuMs.toFixed(0)} ms).` +
        (besideRemark.length > 0 ? ` remark-validate-links took ${processor.toFixed(0)}× the processor time.` : ""),
    ],
    plot: plotGrowth(figures.growth),
  };
}

export function plotGrowth(growth: readonly Measured[]): NonNullable<Written["plot"]> {
  const line = (name: string, of: (one: Measured) => number) => ({
    name,
    points: growth.map((one) => [one.pages, of(one)] as const),
  });
  const svg = drawLines({
    title: "Checking a site, by its pages",
    x: "pages",
    y: "ms; of processor time for the check and the reading",
    log: "both",
    lines: [
      line("cold check", ({ coldCpuMs }) => coldCpuMs),
      line("reading the bytes", ({ readCpuMs }) => readCpuMs),
      line("rename of a page", ({ renameMs }) => renameMs),
      line("re-check after an edit", ({ warmMs }) => warmMs),
    ],
  });
  return { svg, says: "Cold check, reading, rename and re-check by the number of pages" };
}
