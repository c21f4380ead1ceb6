import type { LinkKind } from "../parse/dialect.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { type LinkRules, lenientLinks } from "./link-rules.ts";
import type { PageResolution, Resolution, SiteIndex, Via } from "./site-index.ts";
import {
  dirOf,
  isBelow,
  isExternal,
  isTemplate,
  joinPath,
  pageExtension,
  routeKey,
  splitTarget,
  underDir,
} from "./target.ts";

function rulesOf(index: SiteIndex): LinkRules {
  return index.model.links ?? lenientLinks;
}

const tagIndexes = new WeakMap<SiteIndex, SiteIndex>();

/** The index for targets of HTML tags. It has its own caches, because the same target can resolve differently there. */
function indexForTags(index: SiteIndex): SiteIndex {
  const known = tagIndexes.get(index);
  if (known !== undefined) return known;
  const links: LinkRules = { ...rulesOf(index), markdown: "never", rootMarkdown: false, relative: "address" };
  const made = { ...index, model: { ...index.model, links }, absolute: new Map(), near: new Map() };
  tagIndexes.set(index, made);
  return made;
}

const fileIndexes = new WeakMap<SiteIndex, SiteIndex>();

/** The index for refactorings: a link follows its file, even if the builder does not serve that file. */
export function indexOfFiles(index: SiteIndex): SiteIndex {
  const { sources, ...links } = rulesOf(index);
  if (sources === undefined) return index;
  const known = fileIndexes.get(index);
  if (known !== undefined) return known;
  const made = { ...index, model: { ...index.model, links }, absolute: new Map(), near: new Map() };
  fileIndexes.set(index, made);
  return made;
}

const external: Resolution = { kind: "external" };
const unknown: Resolution = { kind: "unknown" };

/** Resolves a target that is written in a file. */
export function resolveTarget(whole: SiteIndex, from: string, target: string, kind: LinkKind): Resolution {
  const tags = kind === "href" || kind === "src" ? whole.model.links?.tags : undefined;
  const index = tags === "address" || (tags === "href address" && kind === "href") ? indexForTags(whole) : whole;
  if (kind === "image" || kind === "src" || kind === "include") return resolveAny(index, from, target, kind);
  if (target.charCodeAt(0) === 46) return resolveNear(index, from, target, kind);
  // Absolute targets resolve alike on every page, and repeat often: their results are cached.
  if (target.charCodeAt(0) !== 47) return resolveAny(index, from, target, kind);
  const scope = index.model.routeScope?.(from) ?? "";
  const key = scope === "" ? target : `${scope} ${target}`;
  const known = index.absolute.get(key);
  if (known !== undefined) return known;
  const resolution = resolveAny(index, from, target, kind);
  index.absolute.set(key, resolution);
  return resolution;
}

/** Relative file targets resolve alike within a folder: their results are cached by folder. */
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
  const found = findAny(index, from, written, kind);
  const { sources } = rulesOf(index);
  if (sources === undefined || kind === "include" || kind === "image" || kind === "src") return found;
  const isOther =
    found.kind === "file"
      ? found.via !== "alias" && pageExtension.test(found.path)
      : found.kind === "page" && sources === "pages" && index.nodes.get(found.path)?.isPartial === true;
  // A partial's links to itself resolve on the pages that include it.
  return isOther && "path" in found && found.path !== from
    ? { kind: "missing", wanted: splitTarget(written).path }
    : found;
}

function findAny(index: SiteIndex, from: string, written: string, kind: LinkKind): Resolution {
  const target = index.model.ownTarget?.(written, from, kind)?.plain ?? written;
  if (isExternal(target)) return external;
  if (isTemplate(target)) return unknown;
  const { path, hash } = splitTarget(target);
  if (path === "") return toPage(from, hash, "self");
  for (const [prefix, dir] of Object.entries(index.model.aliases ?? {})) {
    if (!path.startsWith(prefix)) continue;
    const aliased = joinPath(dir, path.slice(prefix.length));
    const found = aliased === null ? null : findFile(index, aliased, hash, "alias");
    return found ?? (kind === "include" ? absentInclude(index, path) : { kind: "missing", wanted: path });
  }
  if (path.startsWith("/")) {
    const scope = index.model.routeScope?.(from) ?? "";
    const page = scope === "" ? undefined : index.routes.get(routeKey(`${scope}${path}`));
    if (page !== undefined) return toPage(page, hash, "absolute-route");
    // Docusaurus looks for `/cli/x.md` in the page's docs folder, then in the site's.
    for (const dir of (pageExtension.test(path) ? index.model.searchDirs?.(from, false) : undefined) ?? []) {
      const found = findFile(index, underDir(dir, path.slice(1)), hash, "search");
      if (found !== null) return found;
    }
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

/** A file by its path, or a page by its path without the extension. */
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
  const { base } = rulesOf(index);
  const isBased = basePath !== "" && (path === basePath || path.startsWith(`${basePath}/`));
  const inside = isBased ? path.slice(basePath.length) || "/" : path;
  if (basePath !== "" && base === "written") {
    // A path outside the base may belong to another site on the same host.
    return isBased ? resolveRoute(index, inside, path, hash, kind) : unknown;
  }
  const found = resolveRoute(index, path, path, hash, kind);
  // A page with exactly that name takes precedence.
  return found.kind === "missing" && isBased && base === "either"
    ? resolveRoute(index, inside, path, hash, kind)
    : found;
}

/** The page that a builder serves at a URL path, by its rules for extensions and slashes. */
function pageAt(index: SiteIndex, address: string): string | undefined {
  const { rootMarkdown, html, slashes } = rulesOf(index);
  if (pageExtension.test(address) && !rootMarkdown) return undefined;
  const isIndex = /(?:^|\/)index(?:\.\w+)?$/i.test(address);
  if (html === "never" && (isIndex || /\.html$/i.test(address))) return undefined;
  if (html === "indexes" && !isIndex && /\.html$/i.test(address)) return undefined;
  const page = index.routes.get(routeKey(address));
  if (page === undefined || slashes === "either" || isIndex) return page;
  const isFolder = (index.nodes.get(page)?.route ?? "").endsWith("/");
  if (slashes === "pages") return isFolder || !address.endsWith("/") ? page : undefined;
  return isFolder === (address === "" || address.endsWith("/")) ? page : undefined;
}

function resolveRoute(index: SiteIndex, route: string, path: string, hash: string | null, kind: LinkKind): Resolution {
  const { model } = index;
  const key = routeKey(route);
  if (kind !== "image" && kind !== "src") {
    const page = pageAt(index, route);
    if (page !== undefined) return toPage(page, hash, "absolute-route");
    const fallback = model.fallbackRoute?.(key) ?? null;
    if (fallback !== null && index.routes.has(fallback)) return unknown;
  }
  const inside = joinPath("", route.slice(1));
  if (inside !== null) {
    for (const dir of model.publicDirs) {
      const file = underDir(dir, inside);
      // A page's source is served as its page, never as a file.
      if (index.nodes.has(file) && !rulesOf(index).rootMarkdown) continue;
      if (index.files.has(file)) return asPage(index, file, hash, "absolute-file");
      if (index.files.has(`${file}/index.html`))
        return { kind: "file", path: `${file}/index.html`, via: "absolute-file" };
    }
    const { rootMarkdown, markdown } = rulesOf(index);
    if (
      rootMarkdown &&
      markdown === "file" &&
      pageExtension.test(inside) &&
      index.nodes.has(underDir(model.root, inside))
    ) {
      return asPage(index, underDir(model.root, inside), hash, "absolute-file");
    }
    if (model.framework === "markdown" && index.folders().has(underDir(model.root, inside))) return unknown;
  }
  const isTrusted = model.checksAbsolute === "images" ? kind === "image" : trustsAbsolute(index);
  if (!isTrusted && !pageExtension.test(path) && index.redirectFor(key) === null) return unknown;
  return absent(index, key, path);
}

const missesMax = 20;
const trust = new WeakMap<SiteIndex, boolean>();

/** Whether a leading slash means the root of this tree. In an unknown framework it often does not. */
function trustsAbsolute(index: SiteIndex): boolean {
  const { checksAbsolute, publicDirs } = index.model;
  if (checksAbsolute !== "if usual") return checksAbsolute === true;
  const known = trust.get(index);
  if (known !== undefined) return known;
  let hits = 0;
  let misses = 0;
  for (const { brief } of index.nodes.values()) {
    for (const { target } of targetsOf(brief)) {
      if (!target.startsWith("/") || target.startsWith("//")) continue;
      const { path } = splitTarget(target);
      const isServed = publicDirs.some((dir) => index.files.has(underDir(dir, path.slice(1))));
      if (isServed || index.routes.has(routeKey(path))) hits++;
      else misses++;
    }
  }
  const isTrusted = misses < missesMax || hits > misses;
  trust.set(index, isTrusted);
  return isTrusted;
}

function absent(index: SiteIndex, key: string, wanted: string): Resolution {
  const to = index.redirectFor(key);
  if (to !== null && rulesOf(index).redirects) return { kind: "redirect", to, wanted };
  if (index.model.isGenerated?.(key) === true) return unknown;
  return { kind: "missing", wanted };
}

/** Resolves a target without a leading slash. Each builder has its own rules: see `LinkRules`. */
function resolveRelative(
  index: SiteIndex,
  from: string,
  path: string,
  hash: string | null,
  kind: LinkKind,
): Resolution {
  const { model } = index;
  const rules = rulesOf(index);
  const isPage = pageExtension.test(path);
  const isLink =
    kind === "link" || kind === "definition" || kind === "href" || (kind === "src" && rules.tags === "address");
  if (isLink && rules.relative === "dotted" && !path.startsWith(".")) {
    return resolveRoute(index, `/${path}`, path, hash, kind);
  }
  if (kind === "include" && model.includeDirs !== undefined) {
    const places = model.includeDirs.flatMap((dir) => joinPath(dir, path) ?? []);
    const place = places.find((one) => index.files.has(one));
    return place === undefined ? absentInclude(index, path) : asPage(index, place, hash, "search");
  }
  const joined = joinPath(dirOf(from), path);
  // A path above the repository can only be served by a forge or a host.
  if (joined === null && (!isLink || rules.relative === "either")) return unknown;
  const file = joined === null ? null : fileFor(index, joined, path, hash, isLink);
  if (file !== null) return file;
  if (kind === "include") return absentInclude(index, path);
  for (const dir of (isPage ? model.searchDirs?.(from, /^\.\.?\//.test(path)) : undefined) ?? []) {
    const searched = joinPath(dir, path);
    const found = searched === null ? null : findFile(index, searched, hash, "search");
    if (found !== null) return found;
  }
  const route = index.nodes.get(from)?.route;
  const seeksAddress = isLink ? rules.relative === "address" || rules.relative === "either" : true;
  if (joined === null && !seeksAddress) return { kind: "missing", wanted: path };
  const { root } = model;
  let key = seeksAddress || joined === null ? "" : routeKey(joined.slice(root === "" ? 0 : root.length + 1));
  // No builder serves a URL with a page's extension, but one of them removes the extension.
  if (seeksAddress && route !== undefined && (!isPage || rules.markdown === "address")) {
    const written = isPage ? path.replace(pageExtension, "") : path;
    for (const base of rules.relative === "either" || !isLink ? [dirOf(route), route] : [dirOf(route)]) {
      const reached = rules.relative === "either" || !isLink ? joinPath(base, written) : joinAddress(base, written);
      if (reached === null) continue;
      key = routeKey(reached);
      // The front page of a language is at `/fr`: its relative links start at the root, and are also looked up in its
      // language.
      const scope = model.routeScope?.(from) ?? "";
      const isFront = scope !== "" && route === `/${scope}`;
      const page = pageAt(index, reached) ?? (isFront ? pageAt(index, `${scope}/${reached}`) : undefined);
      if (page !== undefined) return toPage(page, hash, "route");
      for (const dir of model.publicDirs) {
        const served = underDir(dir, reached);
        if (index.files.has(served) && !index.nodes.has(served)) return { kind: "file", path: served, via: "route" };
      }
      if (index.redirectFor(key) !== null) return absent(index, key, path);
    }
  }
  if (model.framework === "markdown" && index.folders().has(joined ?? "")) return unknown;
  const fallback = model.fallbackRoute?.(key) ?? null;
  if (fallback !== null && index.routes.has(fallback)) return unknown;
  return pageExtension.test(path) ? { kind: "missing", wanted: path } : absent(index, key, path);
}

/** The file of a path that is relative to the page's own file, by the builder's rules. */
function fileFor(
  index: SiteIndex,
  joined: string,
  path: string,
  hash: string | null,
  isLink: boolean,
): Resolution | null {
  const { markdown, relative, slashes } = rulesOf(index);
  if (!isLink || relative === "either") return findFile(index, joined, hash, "file");
  if (pageExtension.test(path)) {
    const isFile = markdown === "file" || (markdown === "dotted" && path.startsWith("."));
    return isFile && index.files.has(joined) ? asPage(index, joined, hash, "file") : null;
  }
  // Other files are served at the path that the build copies them to.
  if (relative === "address") {
    return markdown === "file" && index.files.has(joined) ? asPage(index, joined, hash, "file") : null;
  }
  if (slashes !== "exact") return findFile(index, joined, hash, "file");
  const { root, publicDirs } = index.model;
  const inside = root === "" ? joined : joined.slice(root.length + 1);
  if (joined !== root && !isBelow(joined, root)) return null;
  const isFolder = /(?:^|\/)$/.test(path);
  if (/(?:^|\/)\.{1,2}$/.test(path)) return null;
  const page = pageAt(index, isFolder ? `${inside}/` : inside);
  if (page !== undefined) return toPage(page, hash, "file");
  const served = publicDirs.map((dir) => underDir(dir, inside)).find((name) => index.files.has(name));
  return served === undefined ? null : { kind: "file", path: served, via: "file" };
}

/** Joins as browsers do: `..` stops at the root. The trailing slash stays. */
function joinAddress(base: string, path: string): string {
  const out: string[] = [];
  for (const part of `${base}/${path}`.split("/")) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return out.join("/") + (out.length > 0 && /(?:^|\/)\.{0,2}$/.test(path) ? "/" : "");
}

/** Of imports, documents, images and files with an extension that no bundler adds or changes are checked. */
function absentInclude(index: SiteIndex, path: string): Resolution {
  const isNamed =
    index.model.framework === "mdbook" ||
    /\.(?:mdx?|png|jpe?g|gif|svg|webp|avif)$/i.test(path) ||
    (path.startsWith(".") && /\.(?:astro|vue|svelte|tsx|jsx|json|ya?ml|css)$/.test(path));
  return isNamed ? { kind: "missing", wanted: path } : unknown;
}
