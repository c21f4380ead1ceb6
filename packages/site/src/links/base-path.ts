import type { Model } from "../frameworks/framework.ts";
import { routeKey } from "./route.ts";
import { splitTarget } from "./target.ts";

const segmentsMax = 3;
// Fewer may be mistakes.
const linksMin = 3;

/** As much of a page as is looked at here. */
interface LinkingPage {
  brief: { links: readonly string[] };
}

interface Census {
  hits: number;
  misses: number;
  /** Prefix → links that lead to a page without it. */
  prefixes: Map<string, number>;
}

/** What a site's links with a leading slash lead to, as far as routes tell. */
function countAbsolute(nodes: Iterable<LinkingPage>, routes: ReadonlyMap<string, string>): Census {
  const census: Census = { hits: 0, misses: 0, prefixes: new Map() };
  for (const { brief } of nodes) {
    for (const target of brief.links) {
      if (target.charCodeAt(0) !== 47 || target.charCodeAt(1) === 47) continue;
      const key = routeKey(splitTarget(target).path);
      if (routes.has(key)) {
        census.hits++;
        continue;
      }
      census.misses++;
      const parts = key.split("/");
      for (let count = 1; count <= Math.min(segmentsMax, parts.length); count++) {
        if (!routes.has(parts.slice(count).join("/"))) continue;
        const prefix = `/${parts.slice(0, count).join("/")}`;
        census.prefixes.set(prefix, (census.prefixes.get(prefix) ?? 0) + 1);
      }
    }
  }
  return census;
}

/**
 * Where the configuration computes the path that a site is served below: if most absolute links carry one prefix, and lead to
 * pages without it, that is the path; if none shows, absolute links cannot be judged. Nowhere else: a folder that moved would
 * look like a base, and its dead links like good ones.
 */
export function withBase(
  model: Model,
  nodes: ReadonlyMap<string, LinkingPage>,
  routes: ReadonlyMap<string, string>,
): Model {
  if (model.basePath !== "" || model.isBaseComputed !== true) return model;
  const { hits, prefixes } = countAbsolute(nodes.values(), routes);
  const [best] = [...prefixes].sort((a, b) => b[1] - a[1]);
  if (best === undefined || best[1] < linksMin || best[1] <= hits) return { ...model, checksAbsolute: false };
  const [basePath] = best;
  // Where old addresses are written without the base and new ones with it.
  const based =
    model.redirectSource === undefined ? {} : { redirectTarget: withPrefix(basePath, model.redirectTarget) };
  return { ...model, basePath, ...based };
}

function withPrefix(prefix: string, write: Model["redirectTarget"]): Model["redirectTarget"] {
  return (path, route) => prefix + write(path, route);
}

const doubts = new WeakMap<Model, boolean>();

/** Whether most absolute links of a site link to a missing page: then its routes are not what they seem. */
export function doubtsAbsolute(index: {
  model: Model;
  nodes: ReadonlyMap<string, LinkingPage>;
  routes: ReadonlyMap<string, string>;
}): boolean {
  const known = doubts.get(index.model);
  if (known !== undefined) return known;
  const { basePath } = index.model;
  const { hits, misses, prefixes } = countAbsolute(index.nodes.values(), index.routes);
  const found = hits + (prefixes.get(basePath) ?? 0);
  const isDoubtful = misses > linksMin * 2 && hits + misses - found > found;
  doubts.set(index.model, isDoubtful);
  return isDoubtful;
}
