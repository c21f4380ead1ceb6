import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bind } from "@emend/runners";
import type { Finding } from "@emend/site";
import { blocksOf, recordOf } from "./blocks.ts";
import type { Found } from "./collect.ts";
import { aboutSite } from "./judge.ts";
import { own, runScript, type ScriptDeps } from "./run-script.ts";
import { browserModule, browserMounts, type PageToPicture } from "./take-pictures.ts";

/** What a page of the built site does that no page did before. */
export interface Seen extends Found {
  /** The file of the built site. */
  path: string;
  /** The file of the repository, if it is known. */
  source: string | null;
}

export interface Watched {
  seen: readonly Seen[];
  /** Whether the browser came to the end. */
  isWhole: boolean;
  /** Changed pages, and how many of them were read. */
  read: number;
  of: number;
}

export interface WatchTask {
  /** Files of packed sites. */
  before: string;
  after: string;
  base: string;
  pages: readonly PageToPicture[];
  /** Ids of the files that the documentation may publish as they are. */
  blobs: Iterable<string>;
  openedMax?: number;
  clockMs?: number;
}

const readMax = 5_000;
const openedMax = 20;
const clockMs = 240_000;
const findingsMax = 20;
const watch = fileURLToPath(new URL("./watch.ts", import.meta.url));
const modules = [
  browserModule,
  fileURLToPath(new URL("./collect.ts", import.meta.url)),
  fileURLToPath(new URL("./code-shape.ts", import.meta.url)),
];

/**
 * Compares two built sites in Chromium, in the sandbox of builds. It shares no code with the review's rule: a page is what
 * the browser makes of it.
 */
export async function watchChange(
  deps: ScriptDeps & { chromium: string },
  task: WatchTask,
  signal: AbortSignal,
): Promise<Watched> {
  const dir = await mkdtemp(join(tmpdir(), "emend-watch-"));
  try {
    const [report, blobs] = [join(dir, "report"), join(dir, "blobs")];
    await writeFile(report, "");
    const acorn = dirname(dirname(fileURLToPath(import.meta.resolve("acorn"))));
    await writeFile(blobs, [...task.blobs].join("\n"));
    const timeoutMs = task.clockMs ?? clockMs;
    const order = {
      chromium: deps.chromium,
      sites: { before: own("before"), after: own("after") },
      pages: task.pages,
      base: task.base,
      blobs: own("blobs"),
      report: own("report"),
      readMax,
      openedMax: task.openedMax ?? openedMax,
      openMs: timeoutMs / 3,
    };
    const mounts = [
      ...["--bind", report, own("report"), ...bind(blobs, own("blobs")), ...bind(acorn, own("node_modules/acorn"))],
      ...(await browserMounts(deps.chromium, task)),
    ];
    const script = { script: watch, modules, args: [JSON.stringify(order)] };
    await runScript(deps, { ...script, mounts, env: {}, stdin: "", timeoutMs }, signal);
    return readReport(await readFile(report));
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A page's scripts may have got hold of the browser, and so of what it wrote. */
export function readReport(bytes: Buffer): Watched {
  const watched = { seen: [] as Seen[], isWhole: false, read: 0, of: 0 };
  for (const block of blocksOf(bytes)) {
    const line = recordOf(block);
    if (line === null) continue;
    const { path, source, kind, text, code, read, of, done } = line;
    if (done === true) watched.isWhole = true;
    else if (typeof read === "number" && typeof of === "number") Object.assign(watched, { read, of });
    else if (typeof path === "string" && typeof text === "string" && Object.hasOwn(words, String(kind)))
      watched.seen.push({
        path,
        source: typeof source === "string" ? source : null,
        kind: kind as Found["kind"],
        text,
        ...(typeof code === "number" && { code }),
      });
  }
  return watched;
}

const words: Readonly<Record<Found["kind"], string>> = {
  script: "runs a script that no page of the base branch has",
  handler: "has an event handler that no page of the base branch has",
  address: "has an address of a kind that no page of the base branch has",
  frame: "shows a frame that no page of the base branch has",
  form: "has a form that no page of the base branch has",
  meta: "has an instruction for the browser that no page of the base branch has",
  base: "changes where its links lead",
  noscript: "has text for browsers without scripts that no page of the base branch has",
  link: "names a domain that no page of the base branch names",
  contact: "contacts a domain that no page of the base branch names",
  dialog: "opens a dialog",
  file: "is a file that is not in the documentation",
  machine: "shows data of the machine that builds the site",
  unread: "does not answer when a browser opens it",
};

/** Names that stand for others in examples, and those of the reader's own machine. */
const reserved =
  /^(?:(?:.+\.)?example\.(?:com|org|net)|(?:.+\.)?localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|www\.w3\.org)$/;

/** The check whose errors deny a change: a page shows what is not documentation. */
export const builtPage = "built-page";
/** The check whose findings a person decides about: the text of the change itself does this on a page. */
export const builtEdit = "built-edit";
/** Shorter texts are in every page. */
const writtenMin = 4;

/**
 * What the browser saw, as findings. What is in the text of the change is certain. The rest may be the builder's own, such
 * as the script of a component that no page used before, or well hidden: a person decides.
 */
export function findingsOfWatch(
  { seen, isWhole, read, of }: Watched,
  {
    isAllowedHost,
    changed,
  }: {
    /** Domains that the request or the project names. */
    isAllowedHost(host: string): boolean;
    /** The text of the changed files. */
    changed: string;
  },
): readonly Finding[] {
  const squeezed = changed.replaceAll(/\s/g, "");
  const checkOf = ({ kind, text, code = 0 }: Found) => {
    if (kind === "file" || kind === "machine") return builtPage;
    const one = text.slice(code).replaceAll(/\s/g, "");
    return one.length >= writtenMin && squeezed.includes(one) ? builtEdit : "build";
  };
  const findings = new Map<string, Finding>();
  for (const one of seen) {
    const { path, source, kind, text } = one;
    if ((kind === "link" || kind === "contact") && (reserved.test(text) || isAllowedHost(text))) continue;
    const shown = text.trim().slice(0, 160);
    const message = `the built page ${path} ${words[kind]}${shown === "" ? "" : `: ${shown}`}`;
    findings.set(message, {
      check: checkOf(one),
      severity: "error",
      path: source ?? "the site",
      line: 1,
      column: 1,
      message,
    });
  }
  const found = [...findings.values()].slice(0, findingsMax);
  if (!isWhole)
    found.push(aboutSite("error", "the built pages could not be compared: the browser did not come to the end"));
  else if (read < of) found.push(aboutSite("warning", `of ${of} built pages that changed, ${read} were compared`));
  return found;
}
