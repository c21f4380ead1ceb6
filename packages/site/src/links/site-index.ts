import type { Model } from "../frameworks/framework.ts";
import type { PageBrief } from "../parse/page-brief.ts";
import type { Page, SiteFile } from "../types.ts";
import { withBase } from "./base-path.ts";
import { dirOf, routeKey, underDir } from "./route.ts";

/** How a target was found, so that it can be written again in the same manner. */
export type Via = "self" | "file" | "route" | "absolute-route" | "absolute-file" | "alias" | "search";

export type Resolution =
  | { kind: "external" }
  /** Only the site's build knows: not checked. */
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
  /** The index's state in which the page was seen to have that fragment. */
  seenIn: object | null;
}

export interface PageNode extends Page {
  brief: PageBrief;
  /** Content id of the bytes that the brief was taken from. */
  hash: string;
  routes: readonly string[];
  isPartial: boolean;
}

/** Everything that resolving a link looks at. Paths, routes and redirects only: not what pages say. */
export interface SiteIndex {
  model: Model;
  files: ReadonlyMap<string, SiteFile>;
  /** Pages and partials by path. */
  nodes: ReadonlyMap<string, PageNode>;
  /** Route key → the page that has it; the first one where several do. */
  routes: ReadonlyMap<string, string>;
  /** Pages that want a route another page has. */
  clashes: readonly { path: string; route: string; holder: string }[];
  folders(): ReadonlySet<string>;
  redirectFor(route: string): string | null;
  anchors: Map<string, ReadonlySet<string>>;
  /** What targets with a leading slash were found to lead to. */
  absolute: Map<string, Resolution>;
  /** What targets that begin with a dot were found to be, by the folder they are written in. */
  near: Map<string, Map<string, Resolution>>;
  /** Stands for what pages say now: fragments that were found once need not be looked up again. */
  state: object;
}

export function makeNode(model: Model, path: string, brief: PageBrief, hash: string): PageNode {
  const isPartial = model.role(path) === "partial";
  const routes = isPartial ? [] : model.routes(path, brief.fields);
  return { path, route: routes[0] ?? "", title: brief.title, brief, hash, routes, isPartial };
}

/** Whether a page still has the routes that an index knows it by. */
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
        // What is only another address of a page gives way to the page that is served there.
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
 * `/old/:slug*`, `/old/*` and `/old/:id/edit` as expressions, names as groups; what follows a catch-all is caught too, so none
 * backtracks.
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

/** Where a pattern leads for an address that it matches; null where that is known and there is nothing. */
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
