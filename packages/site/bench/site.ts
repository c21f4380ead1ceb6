// The figures of the documentation graph: `site.ts [--pages 10000] [--no-remark]`.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { type Measured, type Remark, renderReport } from "./report.ts";
import { writeSite } from "./write-site.ts";

const { values } = parseArgs({
  options: { pages: { type: "string", default: "10000" }, "no-remark": { type: "boolean", default: false } },
});
const pages = Number(values.pages);
const run = promisify(execFile);

async function inProcess<T>(script: string, folder: string): Promise<T> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const args = ["--disable-warning=ExperimentalWarning", "--max-old-space-size=8192", path, folder];
  const { stdout } = await run(process.execPath, args, { maxBuffer: 2 ** 28 });
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as T;
}

const folder = await mkdtemp(join(tmpdir(), "emend-bench-"));
try {
  await writeSite(join(folder, "site"), pages, "mintlify");
  await writeSite(join(folder, "plain"), pages, "markdown");
  const site = await inProcess<Measured>("./measure.ts", join(folder, "site"));
  const plain = await inProcess<Measured>("./measure.ts", join(folder, "plain"));
  const remark = values["no-remark"] ? null : await inProcess<Remark>("./remark.ts", join(folder, "plain"));
  console.log(renderReport(site, plain, remark));
} finally {
  await rm(folder, { recursive: true, force: true });
}
