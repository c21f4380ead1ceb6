import { followLinks, resolveLinks } from "../check-site.ts";
import { brokenAnchor } from "../checks/broken-anchor.ts";
import { brokenLink } from "../checks/broken-link.ts";
import type { PageNode } from "../links/site-index.ts";
import { readFactsOf } from "../parse/read-facts.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, replaceRange } from "./edit-plan.ts";

/** Repairs broken links where only one page or heading can be meant; reports the rest. `pages`: only in these, by path. */
export async function fixLinks(site: Site, input: { pages?: readonly string[] } = {}): Promise<Refactoring> {
  const plan = createPlan(site);
  const breathe = createTimeSlice();
  const chosen = input.pages === undefined ? null : new Set(input.pages);
  const broken: PageNode[] = [];
  for (const page of site.index.nodes.values()) {
    await breathe();
    if (chosen?.has(page.path) !== false && !followLinks(site.index, page)) broken.push(page);
  }
  for await (const { node: page, facts } of readFactsOf(site, broken)) {
    const context = { index: site.index, page, links: resolveLinks(site.index, page, facts) };
    for (const check of [brokenLink, brokenAnchor]) {
      for (const { line, message, fix } of check.run(context)) {
        if (fix === undefined) plan.skip({ path: page.path, line, reason: message });
        for (const { path, start, end, text } of fix?.edits ?? []) {
          plan.splice(path, replaceRange(start, end, text));
          plan.count("links");
        }
      }
    }
  }
  return plan.finish();
}
