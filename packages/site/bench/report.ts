export interface Measured {
  pages: number;
  bytes: number;
  readMs: number;
  readCpuMs: number;
  coldMs: number;
  coldCpuMs: number;
  warmMs: number;
  rssMb: number;
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

function row(name: string, figure: string, aim: string, isMet: boolean): string {
  return `${name.padEnd(52)} ${figure.padStart(18)}  ${aim.padEnd(12)} ${isMet ? "yes" : "NO"}`;
}

/** The table of figures against their aims. Ratios are of times taken in the same runs on one machine. */
export function renderReport(site: Measured, plain: Measured, remark: Remark | null): string {
  const lines = [
    `${site.pages} pages, ${(site.bytes / 1e6).toFixed(1)} MB: read ${site.readMs.toFixed(0)} ms, cold ${site.coldMs.toFixed(0)} ms (processor: ${site.readCpuMs.toFixed(0)} and ${site.coldCpuMs.toFixed(0)} ms)`,
    "",
    row("what", "figure", "aim", true).replace(/yes$/, "met"),
    row(
      "cold check against merely reading the bytes",
      `${(site.coldMs / site.readMs).toFixed(2)}×`,
      "≤ 3×",
      site.coldMs / site.readMs <= 3,
    ),
    row(
      "re-check after one edit, faster than cold",
      `${(site.coldMs / site.warmMs).toFixed(0)}×`,
      "≥ 100×",
      site.coldMs / site.warmMs >= 100,
    ),
    row("memory after the cold check", `${site.rssMb.toFixed(0)} MB`, "< 500 MB", site.rssMb < 500),
    row(
      "longest hold of the event loop (own time)",
      `${site.loopOwnMs.toFixed(0)} ms`,
      "≤ 50 ms",
      site.loopOwnMs <= 50,
    ),
    row(
      `rename of a page with ${site.renamedLinks} inbound links`,
      `${site.renameMs.toFixed(0)} ms`,
      "< 1000 ms",
      site.renameMs < 1000,
    ),
  ];
  lines.push(`  (by the clock ${site.loopMaxMs.toFixed(0)} ms: on a busy machine the loop waits for its turn, too)`);
  if (remark !== null) {
    const ratio = remark.ms / plain.coldMs;
    lines.push(row("cold check, faster than remark-validate-links", `${ratio.toFixed(0)}×`, "≥ 20×", ratio >= 20));
    lines.push(
      `  (plain Markdown: ${plain.coldMs.toFixed(0)} ms against ${remark.ms.toFixed(0)} ms; processor ${plain.coldCpuMs.toFixed(0)} against ${remark.cpuMs.toFixed(0)} ms)`,
    );
  }
  return lines.join("\n");
}
