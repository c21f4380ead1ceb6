import { routeKey } from "../links/route.ts";
import type { SiteIndex } from "../links/site-index.ts";

/** The page of a navigation target, or null. */
export function pageOfTarget(index: SiteIndex, target: string): string | null {
  const named = index.model.navRoute(target);
  if ("path" in named) return index.nodes.has(named.path) ? named.path : null;
  return index.routes.get(routeKey(named.route)) ?? null;
}

/** Every page in the navigation. */
export function listedPages(index: SiteIndex): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const list of index.model.navigation) {
    for (const { target } of list.items) {
      const page = target === null ? null : pageOfTarget(index, target);
      if (page !== null) listed.add(page);
    }
  }
  return listed;
}
