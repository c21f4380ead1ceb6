import { resolveTarget } from "./resolve.ts";
import type { PageNode, SiteIndex } from "./site-index.ts";
import { baseOf, isTemplate, routeKey, splitTarget, stripExtension } from "./target.ts";

/** Why only the build can judge a target. Null if it is served, even if not as its own page. */
export function reasonFor(index: SiteIndex, target: string): string | null {
  if (isTemplate(target)) return "written by a template";
  const { path } = splitTarget(target);
  const { fallbackRoute, framework, isBaseComputed = false } = index.model;
  const fallback = fallbackRoute?.(routeKey(path)) ?? null;
  if (fallback !== null && index.routes.has(fallback)) return null;
  if (path.startsWith("/") && isBaseComputed) return "below a base path that the configuration computes";
  if (path.startsWith("/")) return framework === "markdown" ? "absolute, and no known framework" : "made by the build";
  return framework === "markdown" ? "a folder or an address, and no known framework" : "made by the build";
}

/** Why no page of a site can move: most of its links cannot be judged, so those to the page cannot be found. */
export function whyNotMove(index: SiteIndex): string | null {
  const reasons = new Map<string, number>();
  let links = 0;
  let unjudged = 0;
  for (const { path, brief } of index.nodes.values()) {
    links += brief.links.length;
    for (const target of brief.links) {
      if (resolveTarget(index, path, target, "link").kind !== "unknown") continue;
      const reason = reasonFor(index, target);
      if (reason === null) continue;
      unjudged++;
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  if (unjudged * 2 <= links) return null;
  const [first] = [...reasons].sort((a, b) => b[1] - a[1]);
  const cause = first === undefined ? "" : ` (most are ${first[0]})`;
  return `${unjudged} of the ${links} links of this site can be judged only by its build${cause}, so those to the page cannot be found; nothing was changed. Move the page by hand`;
}

function nameOf(path: string): string {
  return stripExtension(baseOf(path.replace(/\/+$/, ""))).toLowerCase();
}

/** Unresolved links that may mean a page, by its name, and links that certainly do. */
export function linksThatMayMean(
  index: SiteIndex,
  pages: ReadonlySet<string>,
): Map<string, { sure: number; maybe: number }> {
  const found = new Map([...pages].map((path) => [path, { sure: 0, maybe: 0 }]));
  const byName = Map.groupBy(pages, (path) => nameOf(routeOf(index.nodes.get(path), path)));
  for (const node of index.nodes.values()) {
    for (const target of node.brief.links) {
      const resolution = resolveTarget(index, node.path, target, "link");
      const sure = resolution.kind === "page" && resolution.path !== node.path ? found.get(resolution.path) : undefined;
      if (sure !== undefined) sure.sure++;
      if (resolution.kind !== "unknown") continue;
      const words = isTemplate(target) ? (/["']([^"']+)["']/.exec(target)?.[1] ?? target) : splitTarget(target).path;
      for (const path of byName.get(nameOf(words.split("#")[0] ?? "")) ?? []) {
        const maybe = found.get(path);
        if (maybe !== undefined) maybe.maybe++;
      }
    }
  }
  return found;
}

function routeOf(node: PageNode | undefined, path: string): string {
  return node === undefined || node.route === "/" ? path : node.route;
}
