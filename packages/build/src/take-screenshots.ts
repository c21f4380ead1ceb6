// Runs inside the sandbox, on the files of a change. Makes the screenshots that the project declares, and compares each
// with the file that is there.
import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { after, type Browser, fail, find, openBlocks, readSite, serve, startChromium } from "./browser.ts";
import { answers, startService, stop } from "./service.ts";
import { measurePicture, type Shot, type Step, StepFailed, shoot } from "./shoot.ts";

interface Screenshot {
  file: string;
  open: string;
  steps: Step[];
  window: [number, number];
  theme: "light" | "dark";
  crop: string | null;
}

interface Order {
  chromium: string;
  service: string | null;
  /** A file with the packed site. Null: there is none, and why. */
  site: string | null;
  noSite?: string;
  /** What the addresses of the site begin with; "" or `/folder`. */
  base?: string;
  screenshots: Screenshot[];
  /** A file for what comes of it. */
  report: string;
}

const order: Order = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const shotMs = 90_000;
const oldBytesMax = 20 * 2 ** 20;
const types = { ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp" } as const;

/** The picture that is there, as rows of pixels. Null: there is none, or it cannot be read. */
async function measureOld(browser: Browser, file: string, type: string): Promise<Shot | null> {
  try {
    if (statSync(file).size > oldBytesMax) return null;
    const data = readFileSync(file).toString("base64");
    return await measurePicture(browser, `data:${type};base64,${data}`, null);
  } catch {
    return null;
  }
}

/** The rows that differ. Null: the pictures are not of one size. */
function differing(one: Shot, other: Shot): readonly number[] | null {
  if (one.width !== other.width || one.height !== other.height) return null;
  return one.rows.flatMap((row, y) => (row === other.rows[y] ? [] : [y]));
}

async function takeAll(): Promise<void> {
  const site = order.site === null ? null : readSite(order.site);
  const { base = "" } = order;
  const origin = site && (await serve(site, base));
  const browser = startChromium(order.chromium);
  const write = openBlocks(order.report);
  const tell = (answer: object, bytes: Buffer = Buffer.alloc(0)) => {
    write(Buffer.from(JSON.stringify(answer)));
    write(bytes);
  };

  /** Each time with a service that was started for it: what one screenshot clicks, another does not see. */
  async function take({ open, steps, window: [width, height], theme, crop, file }: Screenshot): Promise<Shot> {
    const type = types[extname(file) as keyof typeof types];
    const view = { width, height, theme, steps, part: crop === null ? ("window" as const) : { crop }, type };
    if (open.startsWith("/")) {
      if (!site) throw new StepFailed(order.noSite ?? "");
      if (!find(site, base, open)) throw new StepFailed(`the built site has no page ${open}`);
      return withinTime(shoot(browser, `${origin}${open}`, view));
    }
    if (order.service === null) throw new StepFailed("no build.service is set that would answer");
    const service = startService(order.service);
    try {
      const url = new URL(open);
      if (!(await answers(url, true))) throw new StepFailed(`nothing answers at ${url.host}`);
      return await withinTime(shoot(browser, open, view));
    } finally {
      stop(service);
    }
  }

  async function answerOf(one: Screenshot): Promise<void> {
    const { file } = one;
    const first = await take(one);
    const encoded = await measureOld(browser, file, types[extname(file) as keyof typeof types]);
    const taken = await measurePicture(browser, dataOf(first, file), null);
    const rows = encoded && differing(encoded, taken);
    if (rows?.length === 0) return tell({ file, kind: "same" });
    // What differs between two pictures of one page says nothing: a time, a random name.
    const second = rows && (await measurePicture(browser, dataOf(await take(one), file), null));
    const chance = new Set(second ? (differing(taken, second) ?? []) : []);
    if (rows?.every((y) => chance.has(y))) return tell({ file, kind: "same" });
    tell({ file, kind: "renewed", chance: chance.size }, first.bytes);
  }

  for (const one of order.screenshots) {
    try {
      await answerOf(one);
    } catch (error) {
      const words = error instanceof StepFailed ? error.message : "the browser could not take it";
      tell({ file: one.file, kind: "failed", words });
    }
  }
  browser.stop();
  process.exit(0);
}

const dataOf = ({ bytes }: Shot, file: string) =>
  `data:${types[extname(file) as keyof typeof types]};base64,${bytes.toString("base64")}`;

async function withinTime(shot: Promise<Shot>): Promise<Shot> {
  shot.catch(() => undefined);
  const taken = await Promise.race([shot, after(shotMs).then(() => null)]);
  if (taken === null) throw new StepFailed(`the page does not answer within ${shotMs / 1000} s`);
  return taken;
}

takeAll().catch(fail);
