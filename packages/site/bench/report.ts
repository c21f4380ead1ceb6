import { mkdir, readFile, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { drawLines } from "./plot.ts";

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

export interface Remark {
  ms: number;
  cpuMs: number;
}

interface Row {
  what: string;
  figure: string;
  aim: string;
  isMet: boolean;
}

/** The figures against their aims. Ratios are of times taken in the same runs on one machine. */
function rowsOf(site: Measured, large: Measured, plain: Measured, remark: Remark | null): Row[] {
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
  const ratio = remark === null ? null : remark.ms / plain.coldMs;
  if (ratio !== null)
    rows.push({
      what: "cold check of plain Markdown, faster than remark-validate-links",
      figure: `${ratio.toFixed(0)}×`,
      aim: "≥ 20×",
      isMet: ratio >= 20,
    });
  return rows;
}

/** The table of figures, as Markdown. */
export function renderReport(site: Measured, large: Measured, plain: Measured, remark: Remark | null): string[] {
  const date = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} cores of ${cpus()[0]?.model ?? "an unknown processor"}`;
  const size = `${site.pages} pages, ${(site.bytes / 1e6).toFixed(1)} MB`;
  return [
    `| ${size} (${date}, ${machine}) | figure | aim | met |`,
    "|---|---:|---:|---|",
    ...rowsOf(site, large, plain, remark).map(
      ({ what, figure, aim, isMet }) => `| ${what} | ${figure} | ${aim} | ${isMet ? "yes" : "no"} |`,
    ),
    "",
    `Read ${site.readMs.toFixed(0)} ms, cold ${site.coldMs.toFixed(0)} ms (processor: ${site.readCpuMs.toFixed(0)} and ${site.coldCpuMs.toFixed(0)} ms).`,
  ];
}

/** Writes docs/results/site.svg and its figures, and returns the line of Markdown that shows it. */
export async function plotGrowth(measured: readonly Measured[]): Promise<string> {
  const line = (name: string, of: (one: Measured) => number) => ({
    name,
    points: measured.map((one) => [one.pages, of(one)] as const),
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
  const folder = new URL("../../../docs/results/", import.meta.url);
  await mkdir(folder, { recursive: true });
  await writeFile(new URL("site.svg", folder), svg);
  const machine = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores of ${cpus()[0]?.model ?? ""}`;
  const command = "npm run bench -- site --write";
  await writeFile(new URL("site.json", folder), `${JSON.stringify({ machine, command, measured }, null, 2)}\n`);
  return "![Cold check, reading, rename and re-check by the number of pages](results/site.svg)";
}

/** Writes lines into docs/results.md, between the comments that name them. */
export async function writeResults(name: string, lines: readonly string[]): Promise<void> {
  const file = new URL("../../../docs/results.md", import.meta.url);
  const text = await readFile(file, "utf8");
  const from = `<!-- npm run bench -- site writes ${name} from here -->`;
  const to = "<!-- until here -->";
  const [before, rest] = text.split(from);
  if (before === undefined || rest === undefined) throw new Error(`docs/results.md has no place for the ${name}`);
  await writeFile(file, `${before}${from}\n\n${lines.join("\n")}\n\n${rest.slice(rest.indexOf(to))}`);
}
