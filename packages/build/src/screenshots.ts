import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bind, programMounts } from "@emend/runners";
import type { Screenshot } from "@emend/site";
import type { Tree } from "@emend/tree";
import { blocksOf, recordOf } from "./blocks.ts";
import type { Plan } from "./plan.ts";
import { runOnTree } from "./run-on-tree.ts";
import { own, type ScriptDeps } from "./run-script.ts";
import { cameraModules } from "./take-pictures.ts";

/** What came of a declared screenshot. */
export type TakenScreenshot =
  /** It looks as before. */
  | { file: string; kind: "same" }
  /** `chance`: rows that differ each time it is taken. */
  | { file: string; kind: "renewed"; bytes: Buffer; chance: number }
  | { file: string; kind: "failed"; words: string };

const bytesMax = 5 * 2 ** 20;
const wordsMax = 1_000;
const script = fileURLToPath(new URL("./take-screenshots.ts", import.meta.url));
const modules = [...cameraModules, fileURLToPath(new URL("./service.ts", import.meta.url))];

/** Makes the declared screenshots again, with the files of a change. */
export async function takeScreenshots(
  deps: ScriptDeps & { chromium: string },
  task: {
    tree: Tree;
    plan: Pick<Plan, "mounts" | "packageFolders">;
    service: string | null;
    /** The packed site, and what its addresses begin with. `string`: why there is none. */
    site: { file: string; base: string } | string;
    screenshots: readonly Screenshot[];
  },
  signal: AbortSignal,
): Promise<readonly TakenScreenshot[]> {
  const dir = await mkdtemp(join(tmpdir(), "emend-screenshots-"));
  try {
    const [order, report] = [join(dir, "order.json"), join(dir, "report")];
    await writeFile(report, "");
    const { chromium } = deps;
    const { service, site, screenshots } = task;
    const built = typeof site === "string" ? { site: null, noSite: site } : { site: own("site"), base: site.base };
    await writeFile(order, JSON.stringify({ chromium, service, screenshots, report: own("report"), ...built }));
    const mounts = [
      ...["--bind", report, own("report")],
      ...(typeof site === "string" ? [] : bind(site.file, own("site"))),
      ...["--ro-bind-try", "/etc/fonts", "/etc/fonts"],
      ...(await programMounts(chromium)),
    ];
    const name = "the screenshots";
    const work = { ...task, name, script, modules, order, mounts, siteFile: join(dir, "no-site") };
    const end = await runOnTree(deps, work, signal);
    const taken = readScreenshotReport(await readFile(report), screenshots);
    const words = end.kind === "stopped" ? end.words : "the program that takes it was ended";
    return screenshots.map(({ file }) => taken.find((one) => one.file === file) ?? { file, kind: "failed", words });
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What a project serves runs beside the program that reports, so its report may be anything. */
export function readScreenshotReport(bytes: Buffer, asked: readonly Screenshot[]): readonly TakenScreenshot[] {
  const files = new Set(asked.map(({ file }) => file));
  const found = new Map<string, TakenScreenshot>();
  const blocks = blocksOf(bytes);
  for (let at = 0; at + 1 < blocks.length; at += 2) {
    const header = recordOf(blocks[at] as Buffer);
    const picture = blocks[at + 1] as Buffer;
    if (header === null || typeof header.file !== "string" || !files.has(header.file)) continue;
    const { file, kind, words, chance } = header;
    if (kind === "same") found.set(file, { file, kind });
    else if (kind === "failed") found.set(file, { file, kind, words: String(words).slice(0, wordsMax) });
    else if (kind === "renewed" && picture.byteLength > 0 && picture.byteLength <= bytesMax)
      found.set(file, { file, kind, bytes: picture, chance: Number.isInteger(chance) ? Number(chance) : 0 });
  }
  return [...found.values()];
}
