import type { Model } from "../frameworks/framework.ts";
import type { PageBrief } from "../parse/page-brief.ts";
import type { Page, SiteFile } from "../types.ts";
import { withBase } from "./base-path.ts";
import { dirOf, routeKey, underDir } from "./target.ts";

/** How a target was resolved, so that it can be rewritten in the same style. */
export type Via = "self" | "file" | "route" | "absolute-route" | "absolute-file" | "alias" | "search";

export type Resolution =
  | { kind: "external" }
  /** Only the site's build can resolve it: not checked. */
  | { kind: "unknown" }
  | PageResolution
  | { kind: "file"; path: string; via: Via }
  | { kind: "redirect"; to: string; wanted: string }
  | { kind: "missing"; wanted: string };

export interface PageResolution {
  kind: "page";
  path: string;
  hash: string | null;
  via: Via;
  /** The index state in which the page was found to have that fragment. */
  seenIn: object | null;
}

export interface PageNode extends Page {
  brief: PageBrief;
  /** The content hash of the bytes that the brief was made from. */
  hash: string;
  routes: readonly string[];
  isPartial: boolean;
}

/** Everything that link resolution uses: paths, routes and redirects, but not page content. */
export interface SiteIndex {
  model: Model;
  files: ReadonlyMap<string, SiteFile>;
  /** Pages and partials by path. */
  nodes: ReadonlyMap<string, PageNode>;
  /** Route key → its page. The first one if several pages have the same route. */
  routes: ReadonlyMap<string, string>;
  /** Pages whose route another page already has. */
  clashes: readonly { path: string; route: string; holder: string }[];
  folders(): ReadonlySet<string>;
  redirectFor(route: string): string | null;
  anchors: Map<string, ReadonlySet<string>>;
  /** A cache of resolved absolute targets. */
  absolute: Map<string, Resolution>;
  /** A cache of resolved targets that start with a dot, by the folder of the page. */
  near: Map<string, Map<string, Resolution>>;
  /** Identifies the current page content: fragments found in this state need no second lookup. */
  state: object;
}

export function makeNode(model: Model, path: string, brief: PageBrief, hash: string): PageNode {
  const isPartial = model.role(path) === "partial";
  const routes = isPartial ? [] : model.routes(path, brief.fields);
  return { path, route: routes[0] ?? "", title: brief.title, brief, hash, routes, isPartial };
}

/** Whether a page still has the routes that the index has for it. */
export function sameRoutes(index: SiteIndex, nodes: ReadonlyMap<string, PageNode>, path: string): boolean {
  const before = index.nodes.get(path);
  const now = nodes.get(path);
  return before !== undefined && now !== undefined && before.routes.join("\n") === now.routes.join("\n");
}

export function buildIndex(
  read: Model,
  files: ReadonlyMap<string, SiteFile>,
  nodes: ReadonlyMap<string, PageNode>,
): SiteIndex {
  const routes = new Map<string, string>();
  const clashes: { path: string; route: string; holder: string }[] = [];
  for (const node of nodes.values()) {
    for (const route of node.routes) {
      const key = routeKey(route);
      const holder = routes.get(key);
      if (holder === undefined) routes.set(key, node.path);
      else if (holder !== node.path && route === node.route) {
        // A page's secondary route yields to the page that is served there.
        if (routeKey(nodes.get(holder)?.route ?? "") === key) clashes.push({ path: node.path, route, holder });
        else routes.set(key, node.path);
      }
    }
  }
  let folders: Set<string> | null = null;
  const model = withBase(read, nodes, routes);
  return {
    model,
    files,
    nodes,
    routes,
    clashes,
    folders: () => (folders ??= collectFolders(files)),
    redirectFor: createRedirectLookup(model, (route) => {
      const { basePath } = model;
      const inside = basePath !== "" && `/${route}/`.startsWith(`${basePath}/`) ? route.slice(basePath.length) : route;
      return (
        routes.has(inside) ||
        model.isGenerated?.(inside) === true ||
        model.publicDirs.some((dir) => files.has(underDir(dir, inside)))
      );
    }),
    anchors: new Map(),
    absolute: new Map(),
    near: new Map(),
    state: {},
  };
}

function collectFolders(files: ReadonlyMap<string, SiteFile>): Set<string> {
  const folders = new Set<string>([""]);
  for (const path of files.keys()) {
    for (let dir = dirOf(path); !folders.has(dir); dir = dirOf(dir)) folders.add(dir);
  }
  return folders;
}

const wildcard = /[:*(]/;

const catchAll = /^(?::\w+)?\*$|^:splat$|^\(\.\*\)$/;

/**
 * Converts `/old/:slug*`, `/old/*` and `/old/:id/edit` to regular expressions with named groups. A catch-all also
 * matches everything after it, so none backtracks.
 */
function toExpression(pattern: string): RegExp {
  let source = "";
  const names = new Set<string>();
  const group = (part: string, inner: string): string => {
    const name = /^:([a-z]\w*)/i.exec(part)?.[1] ?? "splat";
    if (names.has(name)) return `(?:${inner})`;
    names.add(name);
    return `(?<${name}>${inner})`;
  };
  for (const part of pattern.split("/").filter((one) => one !== "")) {
    if (catchAll.test(part)) return new RegExp(`^${source}(?:/${group(part, ".*")})?$`);
    const choice = /^:\w+\(([\w|.-]+)\)$/.exec(part);
    if (choice !== null) source += `/${group(part, (choice[1] as string).replaceAll(".", "\\."))}`;
    else if (part.startsWith(":")) source += `/${group(part, "[^/]+")}`;
    else if (part.split("*").length > 3) source += "/[^/]+";
    else source += `/${part.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replace(/\*/g, "[^/]*")}`;
  }
  return new RegExp(`^${source}$`);
}

/** The target of a redirect pattern for a matching path. Null if that page is certainly missing. */
function patternTarget(
  to: string,
  groups: Record<string, string>,
  isServed: (route: string) => boolean,
): string | null {
  if (!to.startsWith("/")) return to;
  const filled = to.replace(/:([a-z]\w*)\*?|\*$/gi, (_whole, name = "splat") => groups[name] ?? "");
  const route = routeKey(filled.replace(/[?#].*$/, ""));
  return wildcard.test(route) || isServed(route) ? to : null;
}

function createRedirectLookup(model: Model, isServed: (route: string) => boolean): (route: string) => string | null {
  const exact = new Map<string, string>();
  const patterns: { expression: RegExp; to: string }[] = [];
  for (const { from, to } of model.redirects) {
    if (wildcard.test(from)) patterns.push({ expression: toExpression(from), to });
    else exact.set(routeKey(from.split(/[?#]/)[0] as string), to);
  }
  return (route) => {
    const key = routeKey(route);
    const known = exact.get(key);
    if (known !== undefined) return known;
    for (const { expression, to } of patterns) {
      const found = expression.exec(`/${key}`);
      if (found !== null) return patternTarget(to, found.groups ?? {}, (one) => exact.has(one) || isServed(one));
    }
    return null;
  };
}
