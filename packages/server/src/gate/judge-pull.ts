import { isCertainRename } from "@emend/base/repair-prompt.ts";
import { redactSecrets } from "@emend/base/secrets/secrets-in.ts";
import type { CommitStatus } from "@emend/forges";
import {
  applySettings,
  type CheckSettings,
  changedFacts,
  checkTruth,
  compareFacts,
  compareReferences,
  compareSites,
  diffFindings,
  type Finding,
  factFinding,
  type IgnoreEntry,
  indexSource,
  isDefinedIn,
  knownSilencers,
  type OpenOptions,
  openSite,
  type PageBlock,
  type ParseCache,
  readCheckSettings,
  readSiteReferences,
  type Site,
  type SourceIndex,
  type StaleFact,
  type StaleReference,
  silenceFindings,
  siteBlocks,
} from "@emend/site";
import { siteTreeOf, type Tree } from "@emend/tree";
import { rememberIndex } from "../claims/compare-references-of-code.ts";
import { codeHunks } from "../claims/drift/code-change.ts";
import type { Asker } from "../claims/drift/reader.ts";
import type { BrokenClaim } from "../claims/find-claims-again.ts";
import type { OtherSources } from "./compared-trees.ts";
import type { GateFinding } from "./gate-store.ts";
import { type Judged, readWithModel } from "./read-with-model.ts";

/** The project's levels for findings. */
export type GateLevel = "off" | "neutral" | "failing";

const findingsMax = 500;

/** Parsed files of source repositories, by mirror: for the next commit, only changed files are read. */
type SourceIndexes = Map<string, SourceIndex>;

/** The project's own settings of its docs. */
interface DocsSettings {
  docsDir: string;
  ignore: readonly IgnoreEntry[];
  /** The docs whose files set the checks. */
  settings: Tree;
}

interface Sources {
  before: Tree;
  after: Tree;
  /** The key in `indexes`. */
  key: string;
  indexes: SourceIndexes;
}

/**
 * The new findings of a docs change. All settings, `.emend/check.json`, word list and style rules included, are read from
 * the newest commit of the branch that it wants to change: a pull request cannot loosen its own gate.
 */
export async function judgeDocs(
  input: { before: Tree; after: Tree; cache: ParseCache } & DocsSettings,
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const options = { docsDir: input.docsDir, ignore: input.ignore, cache: input.cache, signal };
  // One after the other: the second reuses pages that the first has parsed, from the cache.
  const before = await openSite(siteTreeOf(input.before), options);
  const after = await openSite(siteTreeOf(input.after), options);
  const settings = await readCheckSettings(await openSettings(input, before, options));
  const { introduced } = await compareSites(before, after, { signal, settings });
  // The API description and the samples of the docs themselves.
  const truth = async (site: Site) => checkTruth(site, { sources: [], indexes: [], signal });
  const now = await truth(after);
  const untrue = now.length === 0 ? [] : newFindings(await truth(before), now);
  return [...introduced, ...withoutSilenced(after, { trusted: before, settings }, untrue)]
    .map(plain)
    .sort(worstFirst)
    .slice(0, findingsMax);
}

/** The site whose files set the checks: most often one that is open already. */
async function openSettings(
  { settings, before }: { settings: Tree; before: Tree },
  opened: Site,
  options: OpenOptions,
): Promise<Site> {
  return settings.commit === before.commit ? opened : openSite(siteTreeOf(settings), options);
}

/**
 * What neither the settings nor a comment in the page silences. Of comments only those count that `trusted` has too: a
 * pull request cannot silence its own gate.
 */
function withoutSilenced<T extends Finding>(
  site: Site,
  { trusted, settings }: { trusted: Site; settings: CheckSettings },
  findings: readonly T[],
): readonly T[] {
  const isTrusted = site === trusted ? () => true : knownSilencers(trusted, site);
  // No check ran on the whole site, so this adds no finding about silencers.
  const options = { settings, ran: new Set<string>(), isTrusted };
  return silenceFindings(site, applySettings(findings, settings), options) as T[];
}

function newFindings(before: readonly Finding[], after: readonly Finding[]): readonly Finding[] {
  return diffFindings(before, after).introduced;
}

function plain({ check, severity, path, line, message, fix }: Finding): GateFinding {
  return { check, severity, path, line, message, ...(fix && { isFixable: true }) };
}

function kept({ column: _, name: _name, ...finding }: Judged): GateFinding {
  return finding;
}

/**
 * The pages that mention names which a source change removes or renames, and the claims that it makes changed or gone.
 * `trusted`: the docs whose settings and silencers count. `outside`: a folder that is not a source.
 */
export async function judgeSource(
  input: Sources & {
    docs: Tree;
    trusted: Tree;
    cache: ParseCache;
    outside: string | null;
    claims: readonly BrokenClaim[];
    /** The project's other sources. Read only if something seems to be gone. */
    others(): Promise<OtherSources>;
    /** Null: the project has no language model for this. */
    asker: Asker | null;
    /** The change as a patch. Read only if there is a model to ask. */
    patch(): Promise<string>;
  } & DocsSettings,
  signal: AbortSignal,
): Promise<readonly GateFinding[]> {
  const options = { docsDir: input.docsDir, ignore: input.ignore, cache: input.cache, signal };
  const trusted = await openSite(siteTreeOf(input.trusted), options);
  const site = input.docs === input.trusted ? trusted : await openSite(siteTreeOf(input.docs), options);
  const { judged, after, blocks } = await judgeReferences(site, input, signal);
  const { asker, outside } = input;
  const isDocs = (path: string) => outside !== null && path.startsWith(`${outside}/`);
  const told = [...judged, ...input.claims.map(ofClaim)];
  const found =
    asker === null || after === null
      ? told
      : await readWithModel(
          { blocks, after, hunks: await codeHunks(await input.patch(), isDocs), asker },
          told,
          signal,
        );
  const settings = await readCheckSettings(
    await openSettings({ settings: input.settings, before: input.trusted }, trusted, options),
  );
  return withoutSilenced(site, { trusted, settings }, found).map(kept).sort(worstFirst).slice(0, findingsMax);
}

async function judgeReferences(
  site: Site,
  input: Sources & { outside: string | null; asker: Asker | null; others(): Promise<OtherSources> },
  signal: AbortSignal,
): Promise<{ judged: readonly Judged[]; after: SourceIndex | null; blocks: readonly PageBlock[] }> {
  const { key, indexes, outside } = input;
  // The whole repository is docs.
  if (outside === "") return { judged: [], after: null, blocks: [] };
  const pages = await readSiteReferences(site, { signal });
  const previous = indexes.get(key);
  const isOutside = (path: string) => outside !== null && path.startsWith(`${outside}/`);
  const before = await indexSource(siteTreeOf(input.before), { isOutside, signal, ...(previous && { previous }) });
  const after = await indexSource(siteTreeOf(input.after), { isOutside, signal, previous: before });
  rememberIndex(indexes, key, before);
  const references = [...pages.values()].flatMap((page) => page.references);
  const gone = await compareReferences(references, before, after, { signal });
  // Code that moved to another source is still known.
  const elsewhere: OtherSources = gone.length === 0 ? { indexes: [], unread: [] } : await input.others();
  const stale: Judged[] = [];
  const seen = createSeen(site, before, after);
  for (const one of gone) {
    if (await isDefinedIn(elsewhere.indexes, one.reference, { signal })) continue;
    stale.push({ ...ofStale(one, elsewhere.unread), ...(await seen(one)) });
  }
  const changed = await changedFacts(before, after, { signal });
  const blocks = changed.length === 0 && input.asker === null ? [] : await siteBlocks(site, { signal });
  // A renamed name is told once.
  const renamed = new Set(gone.map(({ cause }) => (cause.kind === "renamed" ? cause.to : "")));
  const compared = compareFacts(changed, blocks).filter(({ kind, name }) => kind !== "new" || !renamed.has(name));
  const facts = await withoutCredentials(compared);
  const isTold = (finding: Finding) => stale.some(({ path, line }) => path === finding.path && line === finding.line);
  const others = [...facts.map((fact) => ofFact(fact, blocks)), ...(await judgeApi(site, before, after, signal))];
  return { judged: [...stale, ...others.filter((finding) => !isTold(finding))], after, blocks };
}

/** A status, its page and the job's prompt show both values. One that is a credential is not copied there. */
async function withoutCredentials(facts: readonly StaleFact[]): Promise<readonly StaleFact[]> {
  const shown: StaleFact[] = [];
  for (const fact of facts) {
    const text = [fact.was, fact.now, fact.code.was, fact.code.now].join("\n");
    if ((await redactSecrets(text)) === text) shown.push(fact);
  }
  return shown;
}

export function ofFact(fact: StaleFact, blocks: readonly PageBlock[]): Judged {
  const { name, path, line, part, was, now, code, block } = fact;
  return {
    ...factFinding(fact),
    name,
    causes: [path],
    claim: { text: block.text, source: `${path}:${line}`, ...code },
    ...(part === "default" && was && now && isOnceOn(blocks, block.path, was) && { renamed: { from: was, to: now } }),
  };
}

const valueMin = 3;

/** Then it can be replaced without a model: nothing else on the page has this value. */
function isOnceOn(blocks: readonly PageBlock[], page: string, value: string): boolean {
  const text = blocks.flatMap((block) => (block.path === page ? block.text : [])).join("\n");
  return value.length >= valueMin && isCertainRename(value, value) && text.split(value).length === 2;
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
  return introduced
    .filter(({ check }) => check.startsWith("api-"))
    .map((finding) => ({ ...plain(finding), column: 1 }));
}

const claimCharactersMax = 2_000;

/** A status is read often, so it keeps the beginning of long texts only. */
function ofClaim({ page, source, now }: BrokenClaim): Judged {
  const isGone = now === null;
  const cut = (text: string) => (text.length > claimCharactersMax ? `${text.slice(0, claimCharactersMax)}…` : text);
  return {
    check: isGone ? "gone-claim" : "changed-claim",
    severity: isGone ? "error" : "warning",
    path: page.path,
    line: page.line,
    column: 1,
    message: `The text relies on \`${source.path}:${source.line}\`, which this ${isGone ? "removes" : "changes"}`,
    causes: [source.path],
    claim: {
      text: cut(page.text),
      source: `${source.path}:${source.line}`,
      was: cut(source.text),
      now: isGone ? null : cut(now),
    },
  };
}

const seenLinesMax = 5;

/** What the page of a status shows about names that are gone: the page's line, and the code before and now. */
function createSeen(site: Site, before: SourceIndex, after: SourceIndex) {
  const known = new Map<string, ReturnType<typeof linesWith>>();
  const linesOf = (state: "before" | "after", path: string, name: string) => {
    const key = `${state} ${path} ${name}`;
    const found = known.get(key) ?? linesWith(state === "before" ? before : after, path, name);
    known.set(key, found);
    return found;
  };
  return async ({ reference, gone, cause, paths: [path = ""] }: StaleReference): Promise<Pick<Judged, "seen">> => {
    const was = await linesOf("before", path, gone);
    if (was.text === "") return {};
    const now = cause.kind === "renamed" ? (await linesOf("after", path, cause.to)).text : "";
    const page = Buffer.from((await site.tree.read(reference.page)) ?? "").toString();
    const text = (page.split("\n")[reference.line - 1] ?? "").slice(0, claimCharactersMax);
    return { seen: { text, source: `${path}:${was.line}`, was: was.text, now: now === "" ? null : now } };
  };
}

async function linesWith({ tree }: SourceIndex, path: string, name: string): Promise<{ line: number; text: string }> {
  const lines = Buffer.from((await tree.read(path)) ?? "")
    .toString()
    .split("\n");
  const at = lines.flatMap((line, index) => (line.includes(name) ? index : [])).slice(0, seenLinesMax);
  const text = await redactSecrets(at.map((index) => lines[index]?.slice(0, claimCharactersMax)).join("\n"));
  return { line: (at[0] ?? 0) + 1, text };
}

/** `unread`: sources that may still have the name. As long as they cannot be read, it is no error. */
export function ofStale(stale: StaleReference, unread: readonly string[]): Judged {
  const { reference, gone, cause, paths } = stale;
  const { page: path, line, column } = reference;
  const where = paths.length === 0 ? "" : ` in ${paths[0]}`;
  const message =
    cause.kind === "renamed"
      ? `\`${gone}\` is renamed to \`${cause.to}\`${where}`
      : `\`${gone}\` is removed${paths.length === 0 ? "" : ` from ${paths[0]}`}`;
  const doubt =
    unread.length > 0
      ? `. Emend could not look at ${unread.join(", ")}, which may have it`
      : stale.isCertain
        ? ""
        : ". Another package may have it: change the page only if it means this one";
  return {
    check: "stale-reference",
    severity: doubt === "" ? "error" : "warning",
    path,
    line,
    column,
    name: gone,
    message: `${message}${doubt}`,
    ...(unread.length > 0 && { unread }),
    ...(!stale.isCertain && { certainty: "likely" as const }),
    ...(stale.isCertain &&
      stale.fix !== undefined &&
      cause.kind === "renamed" &&
      isCertainRename(gone, cause.to) && { renamed: { from: gone, to: cause.to } }),
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
  const unsure = findings.filter(({ unread }) => unread !== undefined);
  if (errors.length === 0 && unsure.length > 0) {
    const sources = [...new Set(unsure.flatMap(({ unread = [] }) => unread))].join(", ");
    return { state: "neutral", words: `Not blocking: ${mentions(unsure)}, but could not look at ${sources}.` };
  }
  if (errors.length === 0) {
    const parts = [mentionsOf(findings), reliesOf(findings), outdatedOf(findings), missingOf(findings)].filter(
      (part) => part !== null,
    );
    if (parts.length > 0) return { state: "neutral", words: `Not blocking: ${parts.join(", ")}.` };
    const words = isDocs
      ? "No new problems in the docs."
      : docsPull === null
        ? "No page names what this removes."
        : `Docs pull request #${docsPull} updates every page that names what this removes.`;
    return { state: "passed", words: findings.length === 0 ? words : `${words} ${count(findings.length, "note")}.` };
  }
  const isRemoved = errors.every(({ check }) => check !== "stale-fact");
  const found = isDocs
    ? `${count(errors.length, "new problem")} on ${count(pagesOf(errors), "page")}.`
    : `${isRemoved ? mentions(errors) : mentions(errors, undefined, "changes")}.`;
  return level === "failing"
    ? { state: "failed", words: found }
    : { state: "neutral", words: `Not blocking: ${found}` };
}

function pagesOf(findings: readonly GateFinding[]): number {
  return new Set(findings.map(({ path }) => path)).size;
}

/** Null: no page names anything that the change removes. */
function mentionsOf(findings: readonly GateFinding[]): string | null {
  const stale = findings.filter(({ check, severity }) => check === "stale-reference" && severity !== "info");
  if (stale.length === 0) return null;
  return stale.every(({ certainty }) => certainty === "likely") ? mentions(stale, "may mention") : mentions(stale);
}

/** Null: no claim is about changed code. */
function reliesOf(findings: readonly GateFinding[]): string | null {
  const pages = pagesOf(findings.filter(({ check }) => check === "changed-claim"));
  if (pages === 0) return null;
  return `${count(pages, "page")} ${pages === 1 ? "relies" : "rely"} on code that this changes`;
}

/** Null: a model found no page that the change makes wrong. */
function outdatedOf(findings: readonly GateFinding[]): string | null {
  const pages = pagesOf(findings.filter(({ check }) => check === "outdated-text"));
  return pages === 0 ? null : `${count(pages, "page")} may be wrong after this change`;
}

/** Null: no page lists what the change adds to. */
function missingOf(findings: readonly GateFinding[]): string | null {
  const pages = pagesOf(findings.filter(({ check, severity }) => check === "missing-text" && severity !== "info"));
  return pages === 0 ? null : `${count(pages, "page")} ${pages === 1 ? "lacks" : "lack"} what this adds`;
}

function mentions(findings: readonly GateFinding[], verb?: "may mention", what = "removes or renames"): string {
  const pages = pagesOf(findings);
  return `${count(pages, "page")} ${verb ?? (pages === 1 ? "mentions" : "mention")} what this ${what}`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
