// The figures of the documentation graph: `site.ts [--pages 10000] [--runs 3] [--no-remark] [--write]`. With --write
// docs/results.md has the figures.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { writeSite } from "./generate.ts";
import { bestOf, type Measured, type SiteFigures, siteSection } from "./report.ts";
import { writeResults } from "./results.ts";

const { values } = parseArgs({
  options: {
    pages: { type: "string", default: "10000" },
    runs: { type: "string", default: "3" },
    "no-remark": { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
  // Others are for the count of planted faults, which runs after this.
  strict: false,
});
const pages = Number(values.pages);
/** The number of pages that the aim for memory is meant for. */
const largePages = 14_000;
const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), "emend-bench-"));

/** Compiled modules are kept between runs, as the `emend` command keeps them. */
async function inProcess<T>(script: string, target: string): Promise<T> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", "--max-old-space-size=8192", path, target];
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 28, env });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T;
}

async function measure(target: string): Promise<Measured> {
  const runs: Measured[] = [];
  for (let n = 0; n < Number(values.runs); n++) runs.push(await inProcess<Measured>("./measure.ts", target));
  return bestOf(runs);
}

try {
  await writeSite(join(folder, "site"), pages, "mintlify");
  await writeSite(join(folder, "plain"), pages, "markdown");
  await writeSite(join(folder, "large"), largePages, "mintlify");
  await writeSite(join(folder, "small"), 200, "mintlify");
  await inProcess<Measured>("./measure.ts", join(folder, "small"));
  const site = await measure(join(folder, "site"));
  // In turn, so that what else the machine does meets both.
  const besideRemark: SiteFigures["besideRemark"][number][] = [];
  for (let n = 0; n < Number(values.runs) && values["no-remark"] !== true; n++) {
    const { coldMs, coldCpuMs } = await inProcess<Measured>("./measure.ts", join(folder, "plain"));
    const { ms, cpuMs } = await inProcess<{ ms: number; cpuMs: number }>("./remark.ts", join(folder, "plain"));
    besideRemark.push({ ours: { ms: coldMs, cpuMs: coldCpuMs }, remark: { ms, cpuMs } });
  }
  const large = await inProcess<Measured>("./measure.ts", join(folder, "large"));
  // How the check grows: smaller sites of the same kind, once each.
  const growth: Measured[] = [];
  for (const share of [10, 4, 2]) {
    await writeSite(join(folder, `a-${share}`), Math.round(pages / share), "mintlify");
    growth.push(await inProcess<Measured>("./measure.ts", join(folder, `a-${share}`)));
  }
  const figures: SiteFigures = { site, large, besideRemark, growth: [...growth, site] };
  const shown = siteSection(figures);
  console.log(shown.table.join("\n"));
  const command = ["npm run bench -- site", ...process.argv.slice(2)].join(" ");
  if (values.write === true) await writeResults("site", command, shown, figures);
} finally {
  await rm(folder, { recursive: true, force: true });
}
