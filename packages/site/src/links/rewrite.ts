import type { Link } from "../parse/dialect.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { resolveTarget } from "./resolve.ts";
import type { Resolution, SiteIndex, Via } from "./site-index.ts";
import { dirOf, isBelow, pageExtension, relativePath, splitTarget, stripExtension, tailOf } from "./target.ts";

/** Encodes characters that Markdown or a URL would interpret. */
export function encode(path: string): string {
  return path.replace(
    /[\s()<>"'%?#\\]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}

interface Form {
  /** The path part as written. */
  path: string;
  hasDot: boolean;
  extension: string;
  hasSlash: boolean;
  hasIndex: boolean;
}

function formOf(target: string): Form {
  const { path } = splitTarget(target);
  return {
    path,
    hasDot: path.startsWith("./"),
    extension: /\.(?:mdx?|markdown|html)$/i.exec(path)?.[0] ?? "",
    hasSlash: path.endsWith("/"),
    hasIndex: /(?:^|\/)index(?:\.\w+)?$/.test(path),
  };
}

/** `isExact`: the trailing slash is part of the URL. */
function dress(route: string, form: Form, file: string, isExact: boolean): string {
  let out = route;
  if (isExact && form.extension === "") return out;
  if (form.hasIndex && /(?:^|\/)index\.\w+$/.test(file) && !/(?:^|\/)index$/.test(out))
    out = `${out.replace(/\/$/, "")}/index`;
  if (form.extension === ".html" && !out.endsWith("/")) return `${out}.html`;
  if (form.hasSlash && !out.endsWith("/")) return `${out}/`;
  if (!form.hasSlash && out.length > 1 && out.endsWith("/")) return out.slice(0, -1);
  return out;
}

function dotted(path: string, form: Form): string {
  return form.hasDot && !path.startsWith(".") ? `./${path}` : path;
}

interface Manner {
  neighbour: boolean;
  child: boolean;
}

const mannerOf = new WeakMap<SiteIndex, Manner>();

/** Whether most links of this site write `./page` rather than `page`, for siblings and for descendants. */
function usualManner(index: SiteIndex): Manner {
  const known = mannerOf.get(index);
  if (known !== undefined) return known;
  const balance = { neighbour: 0, child: 0 };
  for (const { brief } of index.nodes.values()) {
    for (const { target, kind } of targetsOf(brief)) {
      const found =
        kind === "image" || kind === "src" ? null : /^(\.\/)?[\w-]+(\/[\w/-]+)?(?:\.mdx?)?(?:[?#]|$)/.exec(target);
      if (found !== null) balance[found[2] === undefined ? "neighbour" : "child"] += found[1] === undefined ? -1 : 1;
    }
  }
  // Without evidence, the explicit form.
  const manner = { neighbour: balance.neighbour >= 0, child: balance.child >= 0 };
  mannerOf.set(index, manner);
  return manner;
}

/** Ways to write a link from one file to another. The style of the old target comes first. */
function* candidates(index: SiteIndex, from: string, form: Form, to: string, via: Via): Generator<string> {
  const node = index.nodes.get(to);
  const { model } = index;
  const { slashes = "either" } = model.links ?? {};
  const isExact = slashes !== "either";
  if (form.path.startsWith("/")) {
    if (node !== undefined && !node.isPartial) {
      const scope = model.routeScope?.(from) ?? "";
      const isScoped = scope !== "" && node.route.startsWith(`/${scope}/`) && !form.path.startsWith(`/${scope}/`);
      const route = dress(isScoped ? node.route.slice(scope.length + 1) : node.route, form, to, isExact);
      // A folder's address has no name to add an extension to.
      const isMarkdown = pageExtension.test(form.extension) && !node.route.endsWith("/");
      if (isMarkdown) yield `${model.basePath}${stripExtension(node.route)}${pageExtension.exec(to)?.[0] ?? ""}`;
      if (model.basePath !== "" && form.path.startsWith(`${model.basePath}/`)) yield model.basePath + route;
      yield route;
    }
    for (const dir of [...model.publicDirs, model.root]) {
      if (dir === "" || to.startsWith(`${dir}/`)) yield `/${dir === "" ? to : to.slice(dir.length + 1)}`;
    }
    return;
  }
  for (const [prefix, dir] of Object.entries(model.aliases ?? {})) {
    if (form.path.startsWith(prefix) && (dir === "" || to.startsWith(`${dir}/`))) {
      yield `${prefix}${dir === "" ? to : to.slice(dir.length + 1)}`;
    }
  }
  for (const dir of via === "search" ? (model.includeDirs ?? []) : []) {
    if (isBelow(to, dir)) yield dir === "" ? to : to.slice(dir.length + 1);
  }
  const isDotted = model.links?.relative === "dotted";
  if (isDotted && !form.path.startsWith(".") && isBelow(to, model.root)) {
    // A target without a leading dot is relative to the root.
    const inRoot = model.root === "" ? to : to.slice(model.root.length + 1);
    yield form.extension === "" && node !== undefined ? stripExtension(inRoot) : inRoot;
  }
  const source = index.nodes.get(from);
  const byRoute =
    node === undefined || source === undefined
      ? null
      : // A page is "." to itself.
        dress(relativePath(dirOf(source.route).slice(1), node.route.slice(1)) || ".", form, to, isExact);
  if (via === "route" && byRoute !== null) {
    if (pageExtension.test(form.extension)) yield dotted(byRoute.replace(/\/$/, "") + form.extension, form);
    else if (model.links !== undefined) yield dotted(byRoute, form);
    yield byRoute;
  }
  const relative = relativePath(dirOf(from), to);
  const bare = stripExtension(relative);
  if (form.extension === "" && node !== undefined) {
    if (!form.hasIndex && /(?:^|\/)(?:index|readme)$/i.test(bare)) {
      const folder = bare.replace(/(?:^|\/)(?:index|readme)$/i, "") || ".";
      yield isExact ? `${folder}/` : dress(dotted(folder, form), form, to, isExact);
    }
    yield form.hasSlash && !isExact ? `${dotted(bare, form)}/` : dotted(bare, form);
  }
  if (form.extension === ".html") yield `${dotted(bare, form)}.html`;
  yield dotted(relative, form);
  if (byRoute !== null && node !== undefined) {
    yield byRoute;
    yield dress(node.route, form, to, isExact);
  }
}

function leadsTo(resolution: Resolution, to: string): boolean {
  return (resolution.kind === "page" || resolution.kind === "file") && resolution.path === to;
}

/** The link's target, rewritten to resolve to a file of the index, in its original style. Null if none does. */
export function rewriteTarget(index: SiteIndex, from: string, link: Link, to: string, via: Via): string | null {
  const own = index.model.ownTarget?.(link.target, from, link.kind) ?? null;
  if (own !== null) {
    const form = formOf(own.name);
    const { root } = index.model;
    const inRoot =
      form.path.startsWith("/") && isBelow(to, root) ? [`/${root === "" ? to : to.slice(root.length + 1)}`] : [];
    const named = form.extension === "" ? inRoot.map(stripExtension) : inRoot;
    for (const name of [...named, ...candidates(index, from, form, to, via), to]) {
      const at = own.at ?? link.target.indexOf(own.name);
      const text = link.target.slice(0, at) + name + link.target.slice(at + own.name.length);
      if (leadsTo(resolveTarget(index, from, text, link.kind), to)) return text;
    }
    return null;
  }
  const form = formOf(link.target);
  if (form.path.startsWith("../")) {
    // The style cannot be inferred from `../`.
    const isNeighbour = dirOf(from) === dirOf(to);
    form.hasDot =
      index.model.links?.relative === "dotted" ||
      (isNeighbour ? usualManner(index).neighbour : usualManner(index).child);
  }
  const tail = tailOf(link.target);
  for (const candidate of candidates(index, from, form, to, via)) {
    const text = encode(candidate) + tail;
    if (leadsTo(resolveTarget(index, from, text, link.kind), to)) return text;
  }
  return null;
}
