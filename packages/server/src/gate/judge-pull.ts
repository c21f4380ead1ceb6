import {
  compareReferences,
  compareSites,
  indexSource,
  openSite,
  type ParseCache,
  readSiteReferences,
  type SourceIndex,
  type StaleReference,
} from "@emend/site";
import type { CommitStatus } from "../forge/forge.ts";
import { isCertainRename } from "../lib/repair-prompt.ts";
import type { Tree } from "../tree/tree.ts";
import { siteTreeOf } from "../tree/tree.ts";
import type { GateFinding } from "./gate-store.ts";

/** The project's levels for findings. */
export type GateLevel = "off" | "neutral" | "failing";

const findingsMax = 500;

/** Parsed files of source repositories, by mirror: for the next commit, only changed files are read. */
export type SourceIndexes = Map<string, SourceIndex>;
const indexesMax = 4;

interface Sources {
  before: Tree;
  after: Tree;
  /** The key in `indexes`. */
  key: string;
  indexes: SourceIndexes;
}

/**
 * The new findings of a docs change. All settings, `.emend/check.json` included, are read from the base: a pull request
 * cannot loosen its own gate.
 */
export async function judgeDocs(
  input: { before: Tree; after: Tree; docsDir: string; cache: ParseCache },
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const options = { docsDir: input.docsDir, cache: input.cache, signal };
  // One after the other: the second reuses pages that the first has parsed, from the cache.
  const before = await openSite(siteTreeOf(input.before), options);
  const after = await openSite(siteTreeOf(input.after), options);
  const { introduced } = await compareSites(before, after, { signal });
  return introduced
    .map(({ check, severity, path, line, message }) => ({ check, severity, path, line, message }))
    .sort(worstFirst)
    .slice(0, findingsMax);
}

/** The pages that mention names which a source change removes or renames. `outside`: a folder that is not a source. */
export async function judgeReferences(
  input: Sources & { docs: Tree; docsDir: string; cache: ParseCache; outside: string | null },
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const { docsDir, cache, key, indexes, outside } = input;
  const site = await openSite(siteTreeOf(input.docs), { docsDir, cache, signal });
  const pages = await readSiteReferences(site, { signal });
  const previous = indexes.get(key);
  const isOutside = (path: string) => outside !== null && path.startsWith(`${outside}/`);
  const before = await indexSource(siteTreeOf(input.before), { isOutside, signal, ...(previous && { previous }) });
  const after = await indexSource(siteTreeOf(input.after), { isOutside, signal, previous: before });
  indexes.delete(key);
  indexes.set(key, before);
  for (const oldest of indexes.keys()) if (indexes.size > indexesMax) indexes.delete(oldest);
  const references = [...pages.values()].flatMap((page) => page.references);
  const stale = await compareReferences(references, before, after, { signal });
  return stale.map(toFinding).sort(worstFirst).slice(0, findingsMax);
}

function toFinding({ reference, gone, cause, paths }: StaleReference): GateFinding {
  const { page: path, line } = reference;
  const where = paths.length === 0 ? "" : ` in ${paths[0]}`;
  const message =
    cause.kind === "renamed"
      ? `\`${gone}\` is renamed to \`${cause.to}\`${where}`
      : `\`${gone}\` is removed${paths.length === 0 ? "" : ` from ${paths[0]}`}`;
  const isCertain = cause.kind === "renamed" && isCertainRename(gone, cause.to);
  return {
    check: "stale-reference",
    severity: "error",
    path,
    line,
    message,
    ...(isCertain && { renamed: { from: gone, to: cause.to } }),
    causes: paths,
  };
}

function worstFirst(left: GateFinding, right: GateFinding): number {
  const rank = { error: 0, warning: 1, info: 2 };
  return (
    rank[left.severity] - rank[right.severity] || left.path.localeCompare(right.path, "en") || left.line - right.line
  );
}

/** The verdict at a level, as the forge shows it. Only errors fail a pull request; the rest is information. */
export function verdictOf(
  findings: readonly GateFinding[],
  level: GateLevel,
  /** `docsPull`: the open pull request that was checked instead of the docs' base branch. */
  { isDocs, docsPull }: { isDocs: boolean; docsPull: number | null },
): { state: CommitStatus["state"]; words: string } {
  const errors = findings.filter(({ severity }) => severity === "error");
  if (errors.length === 0) {
    const words = isDocs
      ? "No new problems in the docs."
      : docsPull === null
        ? "No page mentions what this changes."
        : `Docs pull request #${docsPull} updates every page that mentions what this changes.`;
    return { state: "passed", words: findings.length === 0 ? words : `${words} ${count(findings.length, "note")}.` };
  }
  const pages = new Set(errors.map(({ path }) => path)).size;
  const found = isDocs
    ? `${count(errors.length, "new problem")} on ${count(pages, "page")}.`
    : `${count(pages, "page")} ${pages === 1 ? "mentions" : "mention"} what this removes or renames.`;
  return level === "failing"
    ? { state: "failed", words: found }
    : { state: "neutral", words: `Not blocking: ${found}` };
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
