import type { SiteTree } from "./types.ts";

/** How pictures of the docs are made again, kept beside the checks' settings. */
export const screenshotsFile = ".emend/screenshots.json";

type ScreenshotStep =
  | { click: string }
  | { fill: string; text: string }
  /** Until the page shows this text. */
  | { wait: string }
  | { scroll: string };

/** How a picture is made. Elements are named by CSS selectors. */
export interface Screenshot {
  /** Its path in the repository. */
  file: string;
  /** A page of the built site, such as `/guide/`, or an address of the project's service. */
  open: string;
  steps: readonly ScreenshotStep[];
  window: readonly [width: number, height: number];
  theme: "light" | "dark";
  /** The element that is shown. Null: the window. */
  crop: string | null;
  /** What it shows: paths and patterns. */
  code: readonly string[];
}

export type Screenshots =
  | { kind: "none" }
  | { kind: "read"; list: readonly Screenshot[] }
  | { kind: "wrong"; problem: string };

const listMax = 50;
const stepsMax = 30;
const textMax = 500;
const [sideMin, sideMax] = [100, 2_000];
const windowUsual = [1280, 800] as const;
const fields = ["file", "open", "steps", "window", "theme", "crop", "code"];

export async function readScreenshots(tree: Pick<SiteTree, "read">): Promise<Screenshots> {
  const bytes = await tree.read(screenshotsFile);
  if (bytes === null) return { kind: "none" };
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString());
  } catch (error) {
    return { kind: "wrong", problem: `it is not valid JSON (${(error as Error).message})` };
  }
  const list = isRecord(value) ? value.screenshots : undefined;
  if (
    !isRecord(value) ||
    !Array.isArray(list) ||
    Object.keys(value).some((key) => key !== "$schema" && key !== "screenshots")
  )
    return {
      kind: "wrong",
      problem: 'it must be an object such as { "screenshots": [{ "file": "docs/a.png", "open": "/a" }] }',
    };
  if (list.length > listMax)
    return { kind: "wrong", problem: `it has ${list.length} screenshots; ${listMax} are allowed` };
  const read: Screenshot[] = [];
  for (const [at, one] of list.entries()) {
    const answer = parseOne(one);
    if (typeof answer === "string") return { kind: "wrong", problem: `screenshot ${at + 1} ${answer}` };
    if (read.some(({ file }) => file === answer.file))
      return { kind: "wrong", problem: `two screenshots are ${answer.file}` };
    read.push(answer);
  }
  return { kind: "read", list: read };
}

/** The screenshot, or what is wrong with it. */
function parseOne(value: unknown): Screenshot | string {
  if (!isRecord(value)) return "must be an object";
  const stranger = Object.keys(value).find((key) => !fields.includes(key));
  if (stranger !== undefined) return `has no field "${stranger}"; there are ${fields.join(", ")}`;
  const { file, open, steps = [], window = windowUsual, theme = "light", crop = null, code = [] } = value;
  if (!isText(file) || !/^(?!\/)(?!(?:.*\/)?\.\.?\/).+\.(?:png|jpe?g|webp)$/.test(file))
    return '"file" must be the path of a PNG, JPEG or WebP file in the repository';
  if (!isText(open) || !isAddress(open))
    return '"open" must be a page of the built site, such as "/guide/", or an address of the service, such as "http://localhost:3000/"';
  const isSide = (side: unknown) => Number.isInteger(side) && Number(side) >= sideMin && Number(side) <= sideMax;
  if (!Array.isArray(window) || window.length !== 2 || !window.every(isSide))
    return `"window" must be a width and a height between ${sideMin} and ${sideMax}`;
  if (theme !== "light" && theme !== "dark") return '"theme" must be "light" or "dark"';
  if (crop !== null && !isText(crop)) return '"crop" must be a CSS selector';
  if (!Array.isArray(code) || code.length > stepsMax || !code.every(isText))
    return '"code" must be a list of paths or patterns';
  if (!Array.isArray(steps) || steps.length > stepsMax) return `"steps" must be a list of at most ${stepsMax}`;
  const wrong = steps.findIndex((step) => !isStep(step));
  if (wrong !== -1)
    return `has a step ${wrong + 1} that is none of { "click": SELECTOR }, { "fill": SELECTOR, "text": TEXT }, { "wait": TEXT } and { "scroll": SELECTOR }`;
  return { file, open, steps, window: [window[0], window[1]], theme, crop, code };
}

/** A path of the site, or a loopback address: the sandbox has no others. */
function isAddress(open: string): boolean {
  if (open.startsWith("/")) return true;
  const url = URL.parse(open);
  return url?.protocol === "http:" && (url.hostname === "localhost" || url.hostname === "127.0.0.1");
}

function isStep(value: unknown): value is ScreenshotStep {
  if (!isRecord(value) || !Object.values(value).every(isText)) return false;
  const keys = Object.keys(value).sort().join();
  return ["click", "fill,text", "wait", "scroll"].includes(keys);
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= textMax;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
