import { stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import {
  applySettings,
  byPlace,
  checkMdx,
  checkSite,
  checkTruth,
  compareSites,
  type Finding,
  type LinkTally,
  type OpenOptions,
  openSite,
  type ParseCache,
  readCheckSettings,
  type Site,
  type SourceIndex,
  silenceFindings,
  tallyLinks,
  truthChecks,
} from "@emend/site";
import { CliError } from "../cli.ts";
import { gitTree, workTree } from "./git-tree.ts";
import { openSources } from "./sources.ts";

interface InspectDeps {
  cache: ParseCache | undefined;
  /** For the progress line. */
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

interface InspectInput {
  /** Only findings that are new since this commit or branch. */
  base: string | null;
  docsDir: string;
  isMdxAsked: boolean;
  /** Runs the site's configuration. */
  evaluate?: OpenOptions["evaluate"];
  /** The folders of `--source`: code to compare the docs with. */
  sources?: readonly string[];
}

export interface Inspection {
  site: Site;
  /** In the folder and in the commit it is compared with. */
  pages: number;
  findings: readonly Finding[];
  /** MDX pages that the full parser did not check. */
  unjudged: number;
  /** Links, and how many of them only the builder can judge. */
  tally: LinkTally;
  /** Notes about the check itself: sources that could not be compared, files that were not read. */
  notes: readonly string[];
}

// The full MDX parser takes about ten milliseconds per page. Above this number it runs only on request.
const mdxPagesMax = 300;

export async function inspectFolder(deps: InspectDeps, dir: string, input: InspectInput): Promise<Inspection> {
  const progress = createProgress(deps.stderr);
  const { signal, cache } = deps;
  const options = {
    docsDir: input.docsDir,
    signal,
    onProgress: (done: number, total: number) => progress.update("reading", done, total),
    ...(cache === undefined ? {} : { cache }),
  };
  try {
    const site = await openSite(workTree(dir), { ...options, evaluate: input.evaluate }).catch(refuseUnreadable);
    if (input.base === null) {
      const whole = await inspectWhole(site, input.isMdxAsked, progress, signal);
      return input.sources === undefined ? whole : await withSources(dir, whole, input.sources, signal);
    }
    const base = await openSite(await gitTree(dir, input.base), options);
    const { introduced, tally } = await compareSites(base, site, { signal, silencers: "head" });
    return { site, pages: site.pages.length + base.pages.length, findings: introduced, unjudged: 0, tally, notes: [] };
  } finally {
    progress.end();
  }
}

async function inspectWhole(
  site: Site,
  isMdxAsked: boolean,
  progress: Progress,
  signal: AbortSignal,
): Promise<Inspection> {
  const findings = await checkSite(site, { signal });
  const tally = await tallyLinks(site, { signal });
  const pages = site.pages.length;
  const mdx = mdxPagesOf(site, isMdxAsked);
  if (mdx === null) return { site, pages, findings, unjudged: allMdx(site).length, tally, notes: [] };
  const onProgress = (done: number): void => progress.update("judging the MDX of", done, mdx.length);
  const settings = await readCheckSettings(site);
  const broken = applySettings(await checkMdx(site, mdx, { signal, onProgress }), settings);
  const judged = silenceFindings(site, broken, { settings, ran: new Set(["mdx-syntax"]) });
  return { site, pages, findings: [...findings, ...judged].sort(byPlace), unjudged: 0, tally, notes: [] };
}

/** Adds findings from the sources. */
async function withSources(
  dir: string,
  whole: Inspection,
  names: readonly string[],
  signal: AbortSignal,
): Promise<Inspection> {
  if (whole.pages === 0) return whole;
  const opened = await openSources(dir, whole.site, names, signal);
  try {
    const settings = await readCheckSettings(whole.site);
    const found = applySettings(await checkTruth(whole.site, { ...opened, signal }), settings);
    // Where the sources could not be compared, a silencer may be needed all the same.
    const ran = new Set<string>(opened.sources.length === names.length ? truthChecks : []);
    const unsilenced = silenceFindings(whole.site, found, { settings, ran });
    const notes = [...opened.notes, ...describeSkipped(opened.indexes)];
    return { ...whole, findings: [...whole.findings, ...unsilenced].sort(byPlace), notes };
  } finally {
    opened.close();
  }
}

/** Source files that were not read and could hide something. Prose, images and lock files are not code. */
function describeSkipped(indexes: readonly SourceIndex[]): string[] {
  const counts = new Map<string, number>();
  for (const { skipped } of indexes) {
    for (const reason of skipped.values()) {
      if (reason === "prose" || reason === "lock file" || reason === "binary" || reason === "CI") continue;
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
    }
  }
  if (counts.size === 0) return [];
  const listed = [...counts].map(([reason, count]) => `${count} ${reason}`).join(", ");
  return [`Source files that were not read: ${listed}.`];
}

function allMdx(site: Site): string[] {
  return site.pages.map(({ path }) => path).filter((path) => site.model.dialect(path).syntax === "mdx");
}

/** The pages that the full MDX parser checks. Null if there are too many. */
export function mdxPagesOf(site: Site, isAsked: boolean): string[] | null {
  const pages = allMdx(site);
  return isAsked || pages.length <= mdxPagesMax ? pages : null;
}

/** Checking nothing must not look like finding nothing. */
export function noPages(dir: string, docs: string): CliError {
  return new CliError("usage", `no page of documentation was found in ${resolve(dir, docs)}; name another folder`);
}

const unreadable = new Set(["EACCES", "EPERM", "ELOOP"]);

/** What could not be listed was not checked, so this is an error. */
export function refuseUnreadable(error: NodeJS.ErrnoException): never {
  if (error.syscall === undefined || !unreadable.has(error.code ?? "")) throw error;
  throw new CliError("usage", `${error.path ?? "a folder"} cannot be read (${error.code}); nothing was checked`, error);
}

// Shorter work needs no progress line.
const quietMs = 500;
// Often enough to see it move.
const everyMs = 100;

interface Progress {
  update(doing: string, done: number, total: number): void;
  end(): void;
}

/** A progress line on a terminal; nothing elsewhere. */
export function createProgress(stream: NodeJS.WriteStream): Progress {
  let shownAt = performance.now() + quietMs - everyMs;
  let isShown = false;
  return {
    update(doing, done, total) {
      if (!stream.isTTY || performance.now() - shownAt < everyMs) return;
      shownAt = performance.now();
      isShown = true;
      stream.write(`\r\u001b[K${doing} ${done} of ${total} pages`);
    },
    end() {
      if (isShown) stream.write("\r\u001b[K");
    },
  };
}

/** Refuses a missing folder, and docs outside of it: checking nothing must not look like finding nothing. */
export async function requireFolder(dir: string, docs: string | undefined): Promise<void> {
  await requireOne(dir, "name the folder that holds the docs");
  if (docs === undefined) return;
  const inside = relative(dir, join(dir, docs));
  if (isAbsolute(docs) || inside === ".." || inside.startsWith(`..${sep}`)) {
    throw new CliError("usage", `--docs: ${docs} is not inside ${dir}; name a folder below it`);
  }
  await requireOne(join(dir, docs), "--docs names a folder inside the one that is checked");
}

async function requireOne(dir: string, advice: string): Promise<void> {
  const info = await stat(dir).catch((error: NodeJS.ErrnoException) => error.code ?? "unknown");
  if (typeof info !== "string") {
    if (info.isDirectory()) return;
    throw new CliError("usage", `${dir} is a file, not a folder; ${advice}`);
  }
  const isAbsent = info === "ENOENT" || info === "ENOTDIR";
  throw new CliError("usage", isAbsent ? `there is no folder ${dir}; ${advice}` : `${dir} cannot be read (${info})`);
}
