import type { SiteIndex } from "../links/site-index.ts";
import { pageOfTarget } from "../navigation/listed-pages.ts";
import type { Site } from "../site.ts";
import { type EditPlan, replaceRange } from "./edit-plan.ts";

/** Rewrites navigation entries of pages that moved. */
export function moveInNavigation(
  site: Site,
  after: SiteIndex,
  moves: ReadonlyMap<string, string>,
  plan: EditPlan,
): void {
  for (const list of site.navigation) {
    for (const { target, targetStart, targetEnd } of list.items) {
      const page = target === null ? null : pageOfTarget(site.index, target);
      const moved = page === null ? undefined : moves.get(page);
      if (moved === undefined || target === null) continue;
      const node = after.nodes.get(moved);
      if (node === undefined) continue;
      let text = site.model.navTarget(moved, node.route);
      if (target.startsWith("/") && !text.startsWith("/")) text = `/${text}`;
      if (text === target) continue;
      plan.splice(list.file, replaceRange(targetStart, targetEnd, text));
      plan.count("navigation");
    }
  }
}
