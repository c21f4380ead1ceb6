import type { LinkKind } from "../parse/facts.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { dirOf, joinPath, pageExtension, routeKey, underDir } from "./route.ts";
import type { SiteIndex } from "./site-index.ts";
import { isExternal, isTemplate, splitTarget } from "./target.ts";

/** How a target was found, so that it can be written again in the same manner. */
export type Via = "self" | "file" | "route" | "absolute-route" | "absolute-file" | "alias" | "search";

export interface PageResolution {
  kind: "page";
  path: string;
  hash: string | null;
  via: Via;
  /** The index's state in which the page was seen to have that fragment. */
  seenIn: object | null;
}

export type Resolution =
  | { kind: "external" }
  /** Only the site's build knows: not checked. */
  | { kind: "unknown" }
  | PageResolution
  | { kind: "file"; path: string; via: Via }
  | { kind: "redirect"; to: string; wanted: string }
  | { kind: "missing"; wanted: string };

const external: Resolution = { kind: "external" };
const unknown: Resolution = { kind: "unknown" };

/** What a target that is written in a file leads to. */
export function resolveTarget(index: SiteIndex, from: string, target: string, kind: LinkKind): Resolution {
  if (kind === "image" || kind === "src" || kind === "include") return resolveAny(index, from, target, kind);
  if (target.charCodeAt(0) === 46) return resolveNear(index, from, target, kind);
  // Routes mean the same on every page, and sites link to the same ones again and again.
  if (target.charCodeAt(0) !== 47) return resolveAny(index, from, target, kind);
  const scope = index.model.routeScope?.(from) ?? "";
  const key = scope === "" ? target : `${scope} ${target}`;
  const known = index.absolute.get(key);
  if (known !== undefined) return known;
  const resolution = resolveAny(index, from, target, kind);
  index.absolute.set(key, resolution);
  return resolution;
}

/** Files mean the same from everywhere in a folder, and neighbours link to each other. */
function resolveNear(index: SiteIndex, from: string, target: string, kind: LinkKind): Resolution {
  const dir = dirOf(from);
  let here = index.near.get(dir);
  if (here === undefined) {
    here = new Map();
    index.near.set(dir, here);
  }
  const known = here.get(target);
  if (known !== undefined) return known;
  const resolution = resolveAny(index, from, target, kind);
  if ((resolution.kind === "page" || resolution.kind === "file") && resolution.via === "file") {
    here.set(target, resolution);
  }
  return resolution;
}

function resolveAny(index: SiteIndex, from: string, written: string, kind: LinkKind): Resolution {
  const target = index.model.ownTarget?.(written, from)?.plain ?? written;
  if (isExternal(target)) return external;
  if (isTemplate(target)) return unknown;
  const { path, hash } = splitTarget(target);
  if (path === "") return toPage(from, hash, "self");
  for (const [prefix, dir] of Object.entries(index.model.aliases ?? {})) {
    if (!path.startsWith(prefix)) continue;
    const aliased = joinPath(dir, path.slice(prefix.length));
    const found = aliased === null ? null : findFile(index, aliased, hash, "alias");
    return found ?? (kind === "include" ? absentInclude(path) : { kind: "missing", wanted: path });
  }
  if (path.startsWith("/")) {
    const scope = index.model.routeScope?.(from) ?? "";
    const page = scope === "" ? undefined : index.routes.get(routeKey(`${scope}${path}`));
    if (page !== undefined) return toPage(page, hash, "absolute-route");
    return resolveAbsolute(index, path, hash, kind);
  }
  return resolveRelative(index, from, path, hash, kind);
}

function toPage(path: string, hash: string | null, via: Via): PageResolution {
  return { kind: "page", path, hash, via, seenIn: null };
}

function asPage(index: SiteIndex, path: string, hash: string | null, via: Via): Resolution {
  const node = index.nodes.get(path);
  return node === undefined ? { kind: "file", path, via } : toPage(path, hash, via);
}

const endings = [".md", ".mdx", "/index.md", "/index.mdx", "/README.md", "/readme.md", "/_index.md"];

/** A file by its path, or a page by its path without the ending. */
function findFile(index: SiteIndex, path: string, hash: string | null, via: Via): Resolution | null {
  if (index.files.has(path)) return asPage(index, path, hash, via);
  const stem = path.endsWith(".html") ? path.slice(0, -5) : path;
  for (const ending of endings) {
    if (index.nodes.has(stem + ending)) return asPage(index, stem + ending, hash, via);
  }
  return null;
}

function resolveAbsolute(index: SiteIndex, path: string, hash: string | null, kind: LinkKind): Resolution {
  const { basePath } = index.model;
  const found = resolveRoute(index, path, path, hash, kind);
  const isBased = basePath !== "" && (path === basePath || path.startsWith(`${basePath}/`));
  // The base may be written or left out; a page of that very name comes first.
  return found.kind === "missing" && isBased
    ? resolveRoute(index, path.slice(basePath.length) || "/", path, hash, kind)
    : found;
}

function resolveRoute(index: SiteIndex, route: string, path: string, hash: string | null, kind: LinkKind): Resolution {
  const { model } = index;
  const key = routeKey(route);
  if (kind !== "image" && kind !== "src") {
    const page = index.routes.get(key);
    if (page !== undefined) return toPage(page, hash, "absolute-route");
    const fallback = model.fallbackRoute?.(key) ?? null;
    if (fallback !== null && index.routes.has(fallback)) return unknown;
  }
  const inside = joinPath("", route.slice(1));
  if (inside !== null) {
    for (const dir of model.publicDirs) {
      const file = underDir(dir, inside);
      if (index.files.has(file)) return asPage(index, file, hash, "absolute-file");
      if (index.files.has(`${file}/index.html`))
        return { kind: "file", path: `${file}/index.html`, via: "absolute-file" };
    }
    if (pageExtension.test(inside) && index.nodes.has(underDir(model.root, inside))) {
      return asPage(index, underDir(model.root, inside), hash, "absolute-file");
    }
    if (model.framework === "markdown" && index.folders().has(underDir(model.root, inside))) return unknown;
  }
  if (!trustsAbsolute(index) && !pageExtension.test(path) && index.redirectFor(key) === null) return unknown;
  return absent(index, key, path);
}

const missesMax = 20;
const trust = new WeakMap<SiteIndex, boolean>();

/** Whether a leading slash means the top of this tree. In an unknown framework's sources it often does not. */
function trustsAbsolute(index: SiteIndex): boolean {
  const { checksAbsolute } = index.model;
  if (checksAbsolute !== "if usual") return checksAbsolute;
  const known = trust.get(index);
  if (known !== undefined) return known;
  let hits = 0;
  let misses = 0;
  for (const { brief } of index.nodes.values()) {
    for (const { target } of targetsOf(brief)) {
      if (!target.startsWith("/") || target.startsWith("//")) continue;
      if (index.routes.has(routeKey(splitTarget(target).path))) hits++;
      else misses++;
    }
  }
  const isTrusted = misses < missesMax || hits > misses;
  trust.set(index, isTrusted);
  return isTrusted;
}

function absent(index: SiteIndex, key: string, wanted: string): Resolution {
  const to = index.redirectFor(key);
  if (to !== null) return { kind: "redirect", to, wanted };
  if (index.model.isGenerated?.(key) === true) return unknown;
  return { kind: "missing", wanted };
}

function resolveRelative(
  index: SiteIndex,
  from: string,
  path: string,
  hash: string | null,
  kind: LinkKind,
): Resolution {
  const { model } = index;
  const joined = joinPath(dirOf(from), path);
  // Above the repository lies only what a forge or a host serves.
  if (joined === null) return unknown;
  const file = findFile(index, joined, hash, "file");
  if (file !== null) return file;
  if (kind === "include") return absentInclude(path);
  for (const dir of (pageExtension.test(path) ? model.searchDirs?.(from) : undefined) ?? []) {
    const searched = joinPath(dir, path);
    const found = searched === null ? null : findFile(index, searched, hash, "search");
    if (found !== null) return found;
  }
  const route = index.nodes.get(from)?.route;
  let key = "";
  // A page's extension names a file: builders look for no route of that name.
  if (model.relativeRoutes && route !== undefined && !pageExtension.test(path)) {
    for (const base of [dirOf(route), route]) {
      const reached = joinPath(base, path);
      if (reached === null) continue;
      key = routeKey(reached);
      const page = index.routes.get(key);
      if (page !== undefined) return toPage(page, hash, "route");
      for (const dir of model.publicDirs) {
        const served = underDir(dir, reached);
        if (index.files.has(served)) return { kind: "file", path: served, via: "route" };
      }
      if (index.redirectFor(key) !== null) return absent(index, key, path);
    }
  }
  if (model.framework === "markdown" && index.folders().has(joined)) return unknown;
  const fallback = model.fallbackRoute?.(key) ?? null;
  if (fallback !== null && index.routes.has(fallback)) return unknown;
  return pageExtension.test(path) ? { kind: "missing", wanted: path } : absent(index, key, path);
}

/** Of what MDX imports only documents and pictures are ours to check: bundlers resolve the rest. */
function absentInclude(path: string): Resolution {
  return /\.(?:mdx?|png|jpe?g|gif|svg|webp|avif)$/i.test(path) ? { kind: "missing", wanted: path } : unknown;
}
