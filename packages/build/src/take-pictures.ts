import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { bind, findProgram, inside, programMounts } from "@emend/runners";
import { blocksOf, recordOf } from "./blocks.ts";
import { own, runScript, type ScriptDeps } from "./run-script.ts";
import { tamePage } from "./tame-page.ts";

/** A page as readers see it, before or after a change. */
export interface PagePicture {
  /** The page's path in the repository. */
  path: string;
  side: "before" | "after";
  width: number;
  height: number;
  /** Rows of pixels, from and to, that the other side does not have. */
  marks: readonly (readonly [number, number])[];
  webp: Buffer;
  /** The page as one document without scripts, compressed with gzip. Of wide pictures. Null: it is too large. */
  page: Buffer | null;
}

/** The addresses of a page in both built sites. Null: one of them does not have it. */
export interface PageToPicture {
  path: string;
  before: string | null;
  after: string | null;
}

const pictureWidths = [1280, 390] as const;
const pictureHeightMax = 4000;
const pictureBytesMax = 2 * 2 ** 20;
const pageBytesMax = 5 * 2 ** 20;
const clockMs = 120_000;
const marksMax = 200;

/** Those without windows first: they need less of everything. */
const browsers = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const photograph = fileURLToPath(new URL("./photograph.ts", import.meta.url));
const moduleOf = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
export const browserModule = moduleOf("browser");
/** What takes and compares pictures, inside the sandbox. */
export const cameraModules = [browserModule, moduleOf("shoot"), moduleOf("differ"), moduleOf("freeze")];

export async function findChromium(path: string): Promise<string | null> {
  for (const name of browsers) {
    const file = await findProgram(name, path);
    if (file !== null) return file;
  }
  return null;
}

/**
 * Opens pages of two built sites in Chromium, in the sandbox of builds: their scripts run, and reach nothing. Whatever was
 * taken before the time was over counts.
 */
export async function takePictures(
  deps: ScriptDeps & { chromium: string },
  task: { before: string; after: string; base: string; pages: readonly PageToPicture[] },
  signal: AbortSignal,
): Promise<readonly PagePicture[]> {
  const dir = await mkdtemp(join(tmpdir(), "emend-pictures-"));
  try {
    const taken = join(dir, "pictures");
    await writeFile(taken, "");
    const order = {
      chromium: deps.chromium,
      sites: { before: own("before"), after: own("after") },
      base: task.base,
      pages: task.pages,
      widths: pictureWidths,
      pictures: own("pictures"),
    };
    const mounts = [...["--bind", taken, own("pictures")], ...(await browserMounts(deps.chromium, task))];
    const args = [JSON.stringify(order)];
    const script = { script: photograph, modules: cameraModules, args };
    await runScript(deps, { ...script, mounts, env: {}, stdin: "", timeoutMs: clockMs }, signal);
    return readPictures(await readFile(taken), task.pages);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What Chromium needs to open the pages of two built sites. */
export async function browserMounts(
  chromium: string,
  sites: { before: string; after: string },
): Promise<readonly string[]> {
  return [
    ...bind(sites.before, own("before")),
    ...bind(sites.after, own("after")),
    ...["--ro-bind-try", "/etc/fonts", "/etc/fonts"],
    ...["--tmpfs", inside.home, "--tmpfs", inside.work],
    ...(await programMounts(chromium)),
  ];
}

/** The scripts of a page may have got hold of the browser, and so of what it wrote. */
export function readPictures(bytes: Buffer, pages: readonly PageToPicture[]): readonly PagePicture[] {
  const paths = new Set(pages.map(({ path }) => path));
  const found = new Map<string, PagePicture>();
  const blocks = blocksOf(bytes);
  for (let at = 0; at + 2 < blocks.length; at += 3) {
    const header = headerOf(blocks[at] as Buffer);
    const [webp, frozen] = blocks.slice(at + 1) as [Buffer, Buffer];
    if (header === null || !paths.has(header.path) || !isWebp(webp)) continue;
    found.set(`${header.path} ${header.width} ${header.side}`, { ...header, webp, page: pageOf(frozen) });
  }
  return [...found.values()];
}

function pageOf(html: Buffer): Buffer | null {
  return html.byteLength > 0 && html.byteLength <= pageBytesMax ? gzipSync(tamePage(html.toString())) : null;
}

function isWebp(bytes: Buffer): boolean {
  return (
    bytes.byteLength <= pictureBytesMax &&
    bytes.toString("latin1", 0, 4) === "RIFF" &&
    bytes.toString("latin1", 8, 12) === "WEBP"
  );
}

function headerOf(block: Buffer): Omit<PagePicture, "webp" | "page"> | null {
  const { path, side, width, height, marks } = recordOf(block) ?? {};
  const isRow = (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= Number(height);
  const isPlain =
    typeof path === "string" &&
    (side === "before" || side === "after") &&
    pictureWidths.some((one) => one === width) &&
    Number.isInteger(height) &&
    Number(height) >= 1 &&
    Number(height) <= pictureHeightMax &&
    Array.isArray(marks) &&
    marks.every((mark) => Array.isArray(mark) && mark.length === 2 && mark.every(isRow));
  if (!isPlain) return null;
  return { path, side, width: Number(width), height: Number(height), marks: marks.slice(0, marksMax) };
}
