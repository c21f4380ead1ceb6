import { followLinks, resolveLinks } from "../check-site.ts";
import { brokenAnchor, brokenLink } from "../checks/links.ts";
import { toFinding } from "../checks/report.ts";
import { isAnchored } from "../links/anchors.ts";
import { saysAbsence } from "../links/doubts.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import type { PageNode } from "../links/site-index.ts";
import { readFactsOf } from "../parse/read-page-facts.ts";
import { confirmFixes } from "../second-resolver/read-states.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Finding, Refactoring } from "../types.ts";
import { createMovedAnchors, linkLike } from "./anchors.ts";
import { createPlan, replaceRange } from "./edit-plan.ts";

/**
 * Fixes broken links if only one page or heading can be meant, and reports the rest. `pages`: only in these, by path.
 * `only`: nothing but fragments. `before`: an earlier state, so that links follow a heading that has moved to another page since.
 */
export async function fixLinks(
  site: Site,
  input: { pages?: readonly string[]; before?: Site; only?: "anchors" } = {},
): Promise<Refactoring> {
  const plan = createPlan(site);
  const movedTo = input.before === undefined ? null : createMovedAnchors(input.before, site);
  const breathe = createTimeSlice();
  const chosen = input.pages === undefined ? null : new Set(input.pages);
  const broken: PageNode[] = [];
  const found: Finding[] = [];
  for (const page of site.index.nodes.values()) {
    await breathe();
    if (chosen?.has(page.path) !== false && !followLinks(site.index, page).isSound) broken.push(page);
  }
  for await (const { node: page, facts } of readFactsOf(site, broken)) {
    const links = resolveLinks(site.index, page, facts).filter(({ link, resolution }) => {
      const isSound = resolution.kind === "page" && isAnchored(site.index, resolution);
      const moved = isSound ? null : (movedTo?.(page, link) ?? null);
      if (moved === null) return true;
      const like = link.target.startsWith("#") ? linkLike(site.index, link) : link;
      const via = resolution.kind === "page" && resolution.via !== "self" ? resolution.via : "file";
      const text = rewriteTarget(site.index, page.path, like, moved.path, via);
      if (text === null) return true;
      plan.splice(page.path, replaceRange(link.start, link.end, text));
      plan.count("links");
      return false;
    });
    const context = { index: site.index, page, links };
    for (const check of input.only === "anchors" ? [brokenAnchor] : [brokenLink, brokenAnchor]) {
      for (const report of check.run(context)) {
        if (report.why === undefined || saysAbsence(report.why)) found.push(toFinding(check, report));
      }
    }
  }
  const pages = site.index.nodes.keys();
  for (const { path, line, message, fix } of await confirmFixes({ tree: site.tree, pages }, found)) {
    if (fix === undefined) plan.skip({ path, line, reason: message });
    for (const { path, start, end, text } of fix?.edits ?? []) {
      plan.splice(path, replaceRange(start, end, text));
      plan.count("links");
    }
  }
  return plan.finish();
}
