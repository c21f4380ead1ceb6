import { type CheckMemo, type Inheritance, inheritanceOf, memoOf, remember } from "./check-memo.ts";
import { type PageContext, type ResolvedLink, toFinding } from "./checks/check.ts";
import { linkChecks, ownChecks, siteChecks } from "./checks/registry.ts";
import { hasAnchor } from "./links/anchors.ts";
import { resolveTarget } from "./links/resolve.ts";
import type { PageNode, SiteIndex } from "./links/site-index.ts";
import { isExternal } from "./links/target.ts";
import type { Site } from "./site.ts";
import { createTimeSlice } from "./text/time-slice.ts";
import type { Finding } from "./types.ts";

/** Runs every check over a site; of one that was opened from an earlier state, only over what changed and what links to it. */
export async function checkSite(site: Site, options: { signal?: AbortSignal } = {}): Promise<readonly Finding[]> {
  const known = memoOf(site);
  if (known !== undefined) return allFindings(known);
  const breathe = createTimeSlice(options.signal);
  const inherited = inheritanceOf(site);
  // Only pages with findings: most have none.
  const byPage = new Map<string, readonly Finding[]>(inherited?.memo.byPage);
  const linkers = createRelation(inherited?.memo.linkers);
  const includers = createRelation(inherited?.memo.includers);
  const affected = inherited === undefined ? site.index.nodes.keys() : affectedBy(inherited);
  for (const path of affected) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const page = site.index.nodes.get(path);
    const found = page === undefined ? nothing : checkPage(site.index, page, linkers, includers);
    if (found.length > 0) byPage.set(path, found);
    else byPage.delete(path);
  }
  const isSameSite = inherited !== undefined && !inherited.isRefielded;
  const ofSite = isSameSite ? inherited.memo.ofSite : await checkWhole(site.index, breathe);
  const memo: CheckMemo = { byPage, ofSite, linkers: linkers.pages(), includers: includers.pages() };
  remember(site, memo);
  return allFindings(memo);
}

async function checkWhole(index: SiteIndex, breathe: () => Promise<void> | undefined): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const check of siteChecks) {
    await breathe();
    for (const report of check.run(index)) findings.push(toFinding(check, report));
  }
  return findings;
}

export function resolveLinks(index: SiteIndex, page: PageNode): ResolvedLink[] {
  const resolved: ResolvedLink[] = [];
  for (const link of page.facts().links) {
    if (isExternal(link.target)) continue;
    resolved.push({ link, resolution: resolveTarget(index, page.path, link.target, link.kind) });
  }
  return resolved;
}

function affectedBy({ memo, changed, reanchored }: Inheritance): Set<string> {
  const anchors = new Set(reanchored);
  // A set that grows while it is walked is walked to its end: includers of includers are found too.
  for (const path of anchors) for (const page of memo.includers.get(path) ?? []) anchors.add(page);
  const affected = new Set([...changed, ...anchors]);
  for (const path of anchors) for (const page of memo.linkers.get(path) ?? []) affected.add(page);
  return affected;
}

interface Relation {
  pages(): ReadonlyMap<string, readonly string[]>;
  add(path: string, page: string): void;
}

/** A relation that begins as an earlier one, which stays as it was: it is copied once something is new. */
function createRelation(earlier: ReadonlyMap<string, readonly string[]> | undefined): Relation {
  if (earlier !== undefined) return extendRelation(earlier);
  const pages = new Map<string, string[]>();
  return {
    pages: () => pages,
    add(path, page) {
      const known = pages.get(path);
      if (known === undefined) pages.set(path, [page]);
      // Pages come one after the other: only the last can be the same.
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

const nothing: readonly Finding[] = [];

function checkPage(index: SiteIndex, page: PageNode, linkers: Relation, includers: Relation): readonly Finding[] {
  let isSound = page.brief.isSound;
  for (const { kind, target } of page.brief.links) {
    const resolution = resolveTarget(index, page.path, target, kind);
    if (resolution.kind === "missing") isSound = false;
    if (resolution.kind !== "page") continue;
    const { path, hash } = resolution;
    if (hash !== null && path !== page.path) linkers.add(path, page.path);
    if (hash !== null && isSound) isSound = hasAnchor(index, path, hash);
    if (kind === "include" && path !== page.path) includers.add(path, page.path);
  }
  return isSound ? nothing : findingsOf(index, page);
}

function findingsOf(index: SiteIndex, page: PageNode): Finding[] {
  const context: PageContext = { index, page, links: resolveLinks(index, page) };
  const findings: Finding[] = [];
  for (const check of ownChecks) {
    for (const report of check.run(page.facts())) findings.push(toFinding(check, { path: page.path, ...report }));
  }
  for (const check of linkChecks) for (const report of check.run(context)) findings.push(toFinding(check, report));
  return findings.sort(byPlace);
}

function allFindings(memo: CheckMemo): Finding[] {
  const findings = [...memo.ofSite];
  for (const own of memo.byPage.values()) for (const finding of own) findings.push(finding);
  return findings.sort(byPlace);
}

function byPlace(a: Finding, b: Finding): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.column - b.column || (a.check < b.check ? -1 : 1);
}
