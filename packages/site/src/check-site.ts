import { applySettings, readCheckSettings, settingsFindings } from "./check-settings.ts";
import type { CheckSettings, PageContext, ResolvedLink } from "./checks/check.ts";
import { ownChecks } from "./checks/page-checks.ts";
import { linkChecks, optionalChecks, siteChecks } from "./checks/registry.ts";
import { targetOf, toFinding } from "./checks/report.ts";
import { isAnchored } from "./links/anchors.ts";
import { resolveTarget } from "./links/resolve.ts";
import type { PageNode, SiteIndex } from "./links/site-index.ts";
import { isExternal } from "./links/target.ts";
import { reasonFor } from "./links/unjudged.ts";
import type { PageFacts } from "./parse/dialect.ts";
import { readFactsOf } from "./parse/read-page-facts.ts";
import type { Silencer } from "./parse/silencers.ts";
import { findsMissing } from "./second-resolver/doubt-errors.ts";
import { silenceFindings, silencerCheck } from "./silence.ts";
import type { Site } from "./site.ts";
import { createTimeSlice } from "./text/time-slice.ts";
import type { Finding, LinkTally } from "./types.ts";

interface CheckOptions {
  signal?: AbortSignal;
  /** Replaces the settings in the site's own tree. */
  settings?: CheckSettings;
  /** Whether a page's ignore comment counts. Default: all do. */
  isTrusted?(path: string, silencer: Silencer): boolean;
}

/** Checks that read every page each time. */
const everyCheck: readonly string[] = [...ownChecks, ...linkChecks, ...siteChecks]
  .map(({ id }) => id)
  .concat(silencerCheck);

/** Runs the checks that a site's settings enable. */
export async function checkSite(site: Site, options: CheckOptions = {}): Promise<readonly Finding[]> {
  const settings = options.settings ?? (await readCheckSettings(site));
  const memo = await checkOnce(site, options);
  const certain = await doubtFound(site, doubtMany(allFindings(memo), memo));
  const findings = [...certain, ...settingsFindings(settings)];
  const ran = new Set(everyCheck);
  for (const check of optionalChecks) {
    const level = settings.levels.get(check.id) ?? (check.isOn?.(site) ? check.severity : "off");
    if (level === "off") continue;
    ran.add(check.id);
    for await (const report of check.run(site, { ...options, settings })) findings.push(toFinding(check, report));
  }
  const { isTrusted } = options;
  const silence = { settings, ran, ...(isTrusted && { isTrusted }) };
  return silenceFindings(site, applySettings(findings, settings), silence).sort(byPlace);
}

const ofLinks: ReadonlySet<string> = new Set(linkChecks.map(({ id }) => id));
/** With fewer, they may all be mistakes. */
const manyMin = 100;
const shareMax = 0.2;
export const manyAreBroken =
  "more than a fifth of this site's links seem to be broken: Emend may not read the site as its builder does";

/** No published site is broken to that extent, so then it is more likely that Emend misreads it. */
function doubtMany(findings: readonly Finding[], { tallies }: CheckMemo): readonly Finding[] {
  const isCertain = ({ check, severity, certainty }: Finding) =>
    ofLinks.has(check) && severity === "error" && certainty === undefined;
  const broken = findings.filter(isCertain).length;
  const links = [...tallies.values()].reduce((sum, tally) => sum + tally.links, 0);
  if (broken < manyMin || broken <= links * shareMax) return findings;
  return findings.map((finding) => (isCertain(finding) ? asLikely(finding, manyAreBroken) : finding));
}

const foundBySecond = "a second reading of the site finds the target, so only the build can tell";

/** What the second resolver finds, the index may misread. It is asked once about each finding. */
async function doubtFound(site: Site, findings: readonly Finding[]): Promise<readonly Finding[]> {
  const asked = findings.flatMap((finding) => {
    const target = finding.certainty === undefined && !secondSays.has(finding) ? targetOf(finding) : undefined;
    return target === undefined ? [] : [{ finding, target }];
  });
  if (asked.length > 0) {
    const { tree, index } = site;
    const pages = new Map([...index.nodes].map(([path, { brief }]) => [path, brief]));
    const isFound = await findsMissing(
      { tree, files: index.files.keys(), pages },
      asked.map(({ finding: { path }, target }) => ({ path, target })),
    );
    for (const [n, { finding }] of asked.entries()) secondSays.set(finding, isFound[n] === true);
  }
  return findings.map((finding) => (secondSays.get(finding) === true ? asLikely(finding, foundBySecond) : finding));
}

/** Finding → whether the second resolver finds its target. */
const secondSays = new WeakMap<Finding, boolean>();

function asLikely({ fix: _, ...finding }: Finding, why: string): Finding {
  return { ...finding, severity: "warning", certainty: "likely", why };
}

/** Counts the judged links of a site, and the others by reason. */
export async function tallyLinks(site: Site, options: { signal?: AbortSignal } = {}): Promise<LinkTally> {
  const { tallies } = await checkOnce(site, options);
  const reasons: Record<string, number> = {};
  let links = 0;
  let unjudged = 0;
  for (const tally of tallies.values()) {
    links += tally.links;
    for (const [reason, count] of Object.entries(tally.reasons ?? {})) {
      reasons[reason] = (reasons[reason] ?? 0) + count;
      unjudged += count;
    }
  }
  return { links, unjudged, reasons };
}

/**
 * Runs every check over a site. If the site was opened from an earlier one, checks only changed pages and pages that
 * link to them.
 */
async function checkOnce(site: Site, options: { signal?: AbortSignal }): Promise<CheckMemo> {
  const known = memoOf(site);
  if (known !== undefined) return known;
  const breathe = createTimeSlice(options.signal);
  const inherited = inheritanceOf(site);
  // Only pages with findings: most have none.
  const byPage = new Map<string, readonly Finding[]>(inherited?.memo.byPage);
  const tallies = new Map<string, PageTally>(inherited?.memo.tallies);
  const linkers = createRelation(inherited?.memo.linkers);
  const includers = createRelation(inherited?.memo.includers);
  const affected = inherited === undefined ? site.index.nodes.keys() : affectedBy(inherited);
  const broken: PageNode[] = [];
  for (const path of affected) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    byPage.delete(path);
    tallies.delete(path);
    const page = site.index.nodes.get(path);
    if (page === undefined) continue;
    const { own } = page.brief;
    if (own.length > 0)
      byPage.set(
        path,
        own.map((finding) => ({ ...finding, path })),
      );
    const { isSound, tally } = followLinks(site.index, page, linkers, includers);
    if (!isSound) broken.push(page);
    if (tally.links > 0) tallies.set(path, tally);
  }
  for await (const { node, facts } of readFactsOf(site, broken, options.signal)) {
    byPage.set(node.path, [...(byPage.get(node.path) ?? []), ...linkFindings(site.index, node, facts)]);
  }
  const isSameSite = inherited !== undefined && !inherited.isRefielded;
  const ofSite = isSameSite ? inherited.memo.ofSite : await checkWhole(site.index, breathe);
  const memo: CheckMemo = { byPage, ofSite, tallies, linkers: linkers.pages(), includers: includers.pages() };
  remember(site, memo);
  return memo;
}

async function checkWhole(index: SiteIndex, breathe: () => Promise<void> | undefined): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of siteChecks) {
    await breathe();
    for (const report of check.run(index)) findings.push(toFinding(check, report));
  }
  return findings;
}

export function resolveLinks(index: SiteIndex, page: PageNode, facts: PageFacts): ResolvedLink[] {
  const resolved: ResolvedLink[] = [];
  for (const link of facts.links) {
    if (isExternal(link.target)) continue;
    resolved.push({ link, resolution: resolveTarget(index, page.path, link.target, link.kind) });
  }
  return resolved;
}

function affectedBy({ memo, changed, reanchored }: Inheritance): Set<string> {
  const anchors = new Set(reanchored);
  // Iterating a set also visits entries added meanwhile, so includers of includers are found too.
  for (const path of anchors) for (const page of memo.includers.get(path) ?? []) anchors.add(page);
  const affected = new Set([...changed, ...anchors]);
  for (const path of anchors) for (const page of memo.linkers.get(path) ?? []) affected.add(page);
  return affected;
}

interface Relation {
  pages(): ReadonlyMap<string, readonly string[]>;
  add(path: string, page: string): void;
}

/** A copy-on-write relation that starts from an earlier one. */
function createRelation(earlier: ReadonlyMap<string, readonly string[]> | undefined): Relation {
  if (earlier !== undefined) return extendRelation(earlier);
  const pages = new Map<string, string[]>();
  return {
    pages: () => pages,
    add(path, page) {
      const known = pages.get(path);
      if (known === undefined) pages.set(path, [page]);
      // Pages arrive in order: only the last entry can be a duplicate.
      else if (known.at(-1) !== page) known.push(page);
    },
  };
}

function extendRelation(earlier: ReadonlyMap<string, readonly string[]>): Relation {
  let pages = earlier;
  return {
    pages: () => pages,
    add(path, page) {
      const known = pages.get(path) ?? [];
      if (known.includes(page)) return;
      if (pages === earlier) pages = new Map(earlier);
      (pages as Map<string, readonly string[]>).set(path, [...known, page]);
    },
  };
}

/** Resolves every link of a page and counts those that can be judged. Records the targets on request. */
export function followLinks(
  index: SiteIndex,
  page: PageNode,
  linkers?: Relation,
  includers?: Relation,
): { isSound: boolean; tally: PageTally } {
  const { path: from, brief } = page;
  const tally: { links: number; reasons?: Record<string, number> } = { links: brief.links.length };
  let isSound = true;
  for (const target of brief.links) {
    const found = resolveTarget(index, from, target, "link");
    if (found.kind === "unknown") {
      const reason = reasonFor(index, target);
      tally.reasons ??= {};
      if (reason !== null) tally.reasons[reason] = (tally.reasons[reason] ?? 0) + 1;
    } else if (found.kind === "missing") isSound = false;
    else if (found.kind === "page" && found.hash !== null) {
      if (found.path !== from) linkers?.add(found.path, from);
      isSound &&= isAnchored(index, found);
    }
  }
  for (const { kind, target } of brief.others) {
    const found = resolveTarget(index, from, target, kind);
    if (found.kind === "missing") isSound = false;
    if (found.kind !== "page") continue;
    if (found.hash !== null && found.path !== from) linkers?.add(found.path, from);
    if (kind === "include" && found.path !== from) includers?.add(found.path, from);
    isSound &&= isAnchored(index, found);
  }
  return { isSound, tally };
}

function linkFindings(index: SiteIndex, page: PageNode, facts: PageFacts): Finding[] {
  const context: PageContext = { index, page, links: resolveLinks(index, page, facts) };
  const findings: Finding[] = [];
  for (const check of linkChecks) for (const report of check.run(context)) findings.push(toFinding(check, report));
  return findings;
}

function allFindings(memo: CheckMemo): Finding[] {
  const findings = [...memo.ofSite];
  for (const own of memo.byPage.values()) for (const finding of own) findings.push(finding);
  return findings;
}

export function byPlace(a: Finding, b: Finding): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.column - b.column || (a.check < b.check ? -1 : 1);
}

/** A site's findings by page, so that the next check covers only the differences. */
interface CheckMemo {
  byPage: ReadonlyMap<string, readonly Finding[]>;
  ofSite: readonly Finding[];
  /** Page → the number of its links, and of those that cannot be judged, by reason. Only pages with links. */
  tallies: ReadonlyMap<string, PageTally>;
  /** Page → pages with links to its anchors. */
  linkers: ReadonlyMap<string, readonly string[]>;
  /** Page → pages that include it, and so have its anchors too. */
  includers: ReadonlyMap<string, readonly string[]>;
}

interface PageTally {
  links: number;
  reasons?: Readonly<Record<string, number>>;
}

interface Inheritance {
  memo: CheckMemo;
  changed: ReadonlySet<string>;
  /** The changed pages whose anchors changed. */
  reanchored: ReadonlySet<string>;
  /** A page's front matter changed, which may decide whether the page must be listed. */
  isRefielded: boolean;
}

const memos = new WeakMap<Site, CheckMemo>();
const inheritances = new WeakMap<Site, Inheritance>();

function memoOf(site: Site): CheckMemo | undefined {
  return memos.get(site);
}

function remember(site: Site, memo: CheckMemo): void {
  memos.set(site, memo);
  inheritances.delete(site);
}

function inheritanceOf(site: Site): Inheritance | undefined {
  return inheritances.get(site);
}

/** Records that a site equals an earlier one except for some files. The earlier one may have been checked. */
export function inheritChecks(site: Site, previous: Site, changed: ReadonlySet<string>): void {
  const memo = memos.get(previous);
  const older = inheritances.get(previous);
  const reanchored = new Set([...changed].filter((path) => anchorKey(previous, path) !== anchorKey(site, path)));
  const isRefielded = [...changed].some((path) => fieldKey(previous, path) !== fieldKey(site, path));
  if (memo !== undefined) inheritances.set(site, { memo, changed, reanchored, isRefielded });
  else if (older !== undefined) {
    inheritances.set(site, {
      memo: older.memo,
      changed: new Set([...older.changed, ...changed]),
      reanchored: new Set([...older.reanchored, ...reanchored]),
      isRefielded: older.isRefielded || isRefielded,
    });
  }
}

function fieldKey(site: Site, path: string): string {
  return JSON.stringify(site.index.nodes.get(path)?.brief.fields ?? null);
}

/** Everything that determines the anchors of a page and of the pages that include it. */
function anchorKey(site: Site, path: string): string {
  const brief = site.index.nodes.get(path)?.brief;
  if (brief === undefined) return "";
  const includes = brief.others.filter(({ kind }) => kind === "include").map(({ target }) => target);
  return [...brief.ids, "\0", ...includes].join("\n");
}
