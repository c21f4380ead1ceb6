import { type PageContext, type ResolvedLink, toFinding } from "./checks/check.ts";
import { pageChecks, siteChecks } from "./checks/registry.ts";
import { resolveTarget } from "./links/resolve.ts";
import type { PageNode, SiteIndex } from "./links/site-index.ts";
import { isExternal } from "./links/target.ts";
import type { Site } from "./site.ts";
import { createTimeSlice } from "./text/time-slice.ts";
import type { Finding } from "./types.ts";

export function resolveLinks(index: SiteIndex, page: PageNode): ResolvedLink[] {
  const resolved: ResolvedLink[] = [];
  for (const link of page.facts.links) {
    if (isExternal(link.target)) continue;
    resolved.push({ link, resolution: resolveTarget(index, page.path, link.target, link.kind) });
  }
  return resolved;
}

function checkPage(index: SiteIndex, page: PageNode): Finding[] {
  const context: PageContext = { index, page, links: resolveLinks(index, page) };
  const findings: Finding[] = [];
  for (const check of pageChecks) for (const report of check.run(context)) findings.push(toFinding(check, report));
  return findings;
}

/** Runs every check over a site. */
export async function checkSite(site: Site, options: { signal?: AbortSignal } = {}): Promise<readonly Finding[]> {
  const { index } = site;
  const breathe = createTimeSlice(options.signal);
  const findings: Finding[] = [];
  for (const check of siteChecks) for (const report of check.run(index)) findings.push(toFinding(check, report));
  for (const page of index.nodes.values()) {
    await breathe();
    findings.push(...checkPage(index, page));
  }
  return findings.sort(byPlace);
}

function byPlace(a: Finding, b: Finding): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.column - b.column || (a.check < b.check ? -1 : 1);
}
