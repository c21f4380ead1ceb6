import { hasAnchor } from "../links/anchors.ts";
import { resolveTarget } from "../links/resolve.ts";
import type { PageNode, SiteIndex } from "../links/site-index.ts";
import type { Link } from "../parse/facts.ts";
import { targetsOf } from "../parse/page-brief.ts";
import type { Site } from "../site.ts";

export interface MovedAnchor {
  path: string;
  id: string;
}

/** The new page of a moved heading: known if exactly one changed page has the id now and did not have it before. */
export function createMovedAnchors(base: Site, head: Site): (from: PageNode, link: Link) => MovedAnchor | null {
  const arrivals = new Map<string, string[]>();
  for (const node of head.index.nodes.values()) {
    const before = base.index.nodes.get(node.path);
    if (before?.hash === node.hash || node.isPartial) continue;
    const had = new Set(before?.brief.ids);
    for (const id of node.brief.ids) {
      if (!had.has(id)) arrivals.set(id, [...(arrivals.get(id) ?? []), node.path]);
    }
  }
  return (from, link) => {
    const place = base.index.nodes.has(from.path) ? from.path : null;
    if (place === null || arrivals.size === 0) return null;
    const before = resolveTarget(base.index, place, link.target, link.kind);
    if (before.kind !== "page" || before.hash === null || !hasAnchor(base.index, before.path, before.hash)) return null;
    const now = arrivals.get(before.hash)?.filter((path) => path !== before.path) ?? [];
    return now.length === 1 ? { path: now[0] as string, id: before.hash } : null;
  };
}

/** A link to its own page shows no style, so it is written like most links of the site. */
export function linkLike(index: SiteIndex, link: Link): Link {
  let slashes = 0;
  let endings = 0;
  for (const { brief } of index.nodes.values()) {
    for (const { target, kind } of targetsOf(brief)) {
      if (kind !== "link" || target.startsWith("#")) continue;
      slashes += target.startsWith("/") ? 1 : -1;
      if (!target.startsWith("/")) endings += /\.mdx?(?:#|$)/.test(target) ? 1 : -1;
    }
  }
  const hash = link.target.slice(link.target.indexOf("#"));
  const path = slashes > 0 ? "/x" : endings >= 0 ? "./x.md" : "./x";
  return { ...link, target: `${path}${hash}` };
}
