import { type CheckMemo, inheritanceOf, memoOf, remember } from "./check-memo.ts";
import { type PageContext, type ResolvedLink, toFinding } from "./checks/check.ts";
import { pageChecks, siteChecks } from "./checks/registry.ts";
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
  const byPage = new Map<string, readonly Finding[]>(inherited?.memo.byPage);
  const dependents = new Map<string, Set<string>>();
  if (inherited !== undefined)
    for (const [path, pages] of inherited.memo.dependents) dependents.set(path, pages as Set<string>);
  const affected = inherited === undefined ? site.index.nodes.keys() : affectedBy(inherited.memo, inherited.changed);
  const owned = new Set<string>();
  for (const path of affected) {
    await breathe();
    const page = site.index.nodes.get(path);
    if (page !== undefined)
      byPage.set(path, checkPage(site.index, page, dependents, inherited === undefined ? null : owned));
  }
  const ofSite: Finding[] = [];
  for (const check of siteChecks) {
    for (const report of check.run(site.index)) {
      await breathe();
      ofSite.push(toFinding(check, report));
    }
  }
  const memo: CheckMemo = { byPage, ofSite, dependents };
  remember(site, memo);
  return allFindings(memo);
}

export function resolveLinks(index: SiteIndex, page: PageNode): ResolvedLink[] {
  const resolved: ResolvedLink[] = [];
  for (const link of page.facts.links) {
    if (isExternal(link.target)) continue;
    resolved.push({ link, resolution: resolveTarget(index, page.path, link.target, link.kind) });
  }
  return resolved;
}

function affectedBy(memo: CheckMemo, changed: ReadonlySet<string>): Set<string> {
  const affected = new Set(changed);
  // A set that grows while it is walked is walked to its end: includes of includes are found too.
  for (const path of affected) for (const page of memo.dependents.get(path) ?? []) affected.add(page);
  return affected;
}

/** Sets of an inherited memo are shared with it: one that grows is copied first. */
function addDependent(
  dependents: Map<string, Set<string>>,
  path: string,
  page: string,
  owned: Set<string> | null,
): void {
  const pages = dependents.get(path);
  if (pages?.has(page)) return;
  if (pages === undefined || (owned !== null && !owned.has(path))) {
    dependents.set(path, new Set(pages).add(page));
    owned?.add(path);
  } else pages.add(page);
}

function checkPage(
  index: SiteIndex,
  page: PageNode,
  dependents: Map<string, Set<string>>,
  owned: Set<string> | null,
): Finding[] {
  const context: PageContext = { index, page, links: resolveLinks(index, page) };
  for (const { link, resolution } of context.links) {
    if (resolution.kind !== "page" || resolution.path === page.path) continue;
    if (resolution.hash !== null || link.kind === "include")
      addDependent(dependents, resolution.path, page.path, owned);
  }
  const findings: Finding[] = [];
  for (const check of pageChecks) for (const report of check.run(context)) findings.push(toFinding(check, report));
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
