import {
  applySettings,
  checkTruth,
  compareReferences,
  compareSites,
  diffFindings,
  type Finding,
  indexSource,
  openSite,
  type ParseCache,
  readCheckSettings,
  readSiteReferences,
  type Site,
  type SourceIndex,
  type StaleReference,
  silenceFindings,
} from "@emend/site";
import { listBrokenClaims } from "../claims/find-claims-again.ts";
import type { Queryable } from "../db/pool.ts";
import type { CommitStatus } from "../forge/forge.ts";
import { isCertainRename } from "../lib/repair-prompt.ts";
import type { CommitTree, Tree } from "../tree/tree.ts";
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
  // The API description and the samples of the docs themselves.
  const truth = async (site: Site) => checkTruth(site, { sources: [], indexes: [], signal });
  const now = await truth(after);
  const untrue = now.length === 0 ? [] : newFindings(await truth(before), now);
  return [...introduced, ...(await heard(after, before, untrue))].map(plain).sort(worstFirst).slice(0, findingsMax);
}

/** The settings of `trusted` count, and no comment that the change may have added. */
async function heard(site: Site, trusted: Site, findings: readonly Finding[]): Promise<readonly Finding[]> {
  const settings = await readCheckSettings(trusted);
  return silenceFindings(site, applySettings(findings, settings), {
    settings,
    ran: new Set(),
    isTrusted: () => site === trusted,
  });
}

function newFindings(before: readonly Finding[], after: readonly Finding[]): readonly Finding[] {
  return diffFindings(before, after).introduced;
}

function plain({ check, severity, path, line, message }: Finding): GateFinding {
  return { check, severity, path, line, message };
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
  const stale = (await compareReferences(references, before, after, { signal })).map(toFinding);
  const isTold = (finding: Finding) => stale.some(({ path, line }) => path === finding.path && line === finding.line);
  const api = (await judgeApi(site, before, after, signal)).filter((finding) => !isTold(finding)).map(plain);
  return [...stale, ...api].sort(worstFirst).slice(0, findingsMax);
}

const describesApi = /(?:openapi|swagger)[^/]*\.(?:json|ya?ml)$/i;

/** What the pages say about the API and its description no longer does, and new operations that no page names. */
async function judgeApi(
  site: Site,
  before: SourceIndex,
  after: SourceIndex,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const described = (index: SourceIndex) => [...index.files].filter(([path]) => describesApi.test(path)).toString();
  if (described(before) === described(after)) return [];
  const truth = async (index: SourceIndex) => checkTruth(site, { sources: [], indexes: [index], signal });
  const introduced = newFindings(await truth(before), await truth(after));
  return heard(
    site,
    site,
    introduced.filter(({ check }) => check.startsWith("api-")),
  );
}

/** The claims that a change of the code makes changed or gone. */
export async function judgeClaims(
  db: Queryable,
  name: { projectId: string; repositoryId: string | null },
  trees: { before: CommitTree; after: CommitTree; docs: CommitTree },
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const broken = await listBrokenClaims(db, name, trees, signal);
  return broken.slice(0, findingsMax).map(({ isGone, page, source }) => ({
    check: isGone ? "gone-claim" : "changed-claim",
    severity: isGone ? "error" : "warning",
    path: page.path,
    line: page.line,
    message: `The text relies on \`${source.path}:${source.line}\`, which this ${isGone ? "removes" : "changes"}`,
    causes: [source.path],
  }));
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

export function worstFirst(left: GateFinding, right: GateFinding): number {
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
  if (errors.length === 0 && findings.some(({ check }) => check === "changed-claim")) {
    const pages = new Set(findings.flatMap(({ check, path }) => (check === "changed-claim" ? [path] : []))).size;
    const relies = `${count(pages, "page")} ${pages === 1 ? "relies" : "rely"} on code that this changes.`;
    return { state: "neutral", words: `Not blocking: ${relies}` };
  }
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
