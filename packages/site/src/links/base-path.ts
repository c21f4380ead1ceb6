import type { Model } from "../frameworks/framework.ts";
import { routeKey, splitTarget } from "./target.ts";

const segmentsMax = 3;
// With fewer than this, mismatches may be mistakes.
const linksMin = 3;

/** The part of a page that is used here. */
interface LinkingPage {
  brief: { links: readonly string[] };
}

interface Census {
  hits: number;
  misses: number;
  /** Prefix → the number of links that resolve to a page without it. */
  prefixes: Map<string, number>;
}

/** Counts what a site's absolute links resolve to, by routes. */
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
 * Infers the base path of a site whose configuration computes it. If most absolute links have one prefix and resolve to
 * pages without it, that is the base path. If there is none, absolute links cannot be judged. Not used for other sites:
 * a moved folder would look like a base path, and its dead links like valid ones.
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
  // For redirects whose source is written without the base path and whose target has it.
  const based =
    model.redirectSource === undefined ? {} : { redirectTarget: withPrefix(basePath, model.redirectTarget) };
  return { ...model, basePath, ...based };
}

function withPrefix(prefix: string, write: Model["redirectTarget"]): Model["redirectTarget"] {
  return (path, route) => prefix + write(path, route);
}

const doubts = new WeakMap<Model, boolean>();

/** Whether most absolute links of a site are broken: then its routes are probably not what they seem. */
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
