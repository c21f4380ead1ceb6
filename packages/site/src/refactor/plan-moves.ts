import type { Home } from "../frameworks/framework.ts";
import { baseOf, isBelow, pageExtension, stripExtension, underDir } from "../links/route.ts";
import type { SiteIndex } from "../links/site-index.ts";
import type { Site } from "../site.ts";
import { cleanPath, locatePage } from "./locate-page.ts";

/** Old path → new path, of every file that moves. */
export type Moves = ReadonlyMap<string, string>;
type Planned = { moves: Moves } | { reason: string };

/** Which files move where, by the words of whoever asks. */
export function planMoves(site: Site, fromWords: string, toWords: string): Planned {
  const target = cleanPath(toWords.trim().replace(/\/+$/, ""));
  if (target === null) return { reason: `"${toWords}" is no path that a page could have` };
  const folder = folderOf(site, fromWords);
  const page = locatePage(site, fromWords);
  if (folder !== null && (page.kind === "refused" || !pageExtension.test(fromWords))) {
    const isPageToo = page.kind === "found" && !isBelow(page.node.path, folder);
    if (!isPageToo) return planFolder(site, folder, placeOf(site, folder, target));
  }
  if (page.kind === "refused") {
    const there = locatePage(site, toWords);
    const redirect = site.index.redirectFor(fromWords);
    if (there.kind === "found" && redirect !== null) return { moves: new Map() };
    return { reason: page.reason };
  }
  const from = page.node.path;
  let path = placeOf(site, from, target);
  const isFolder =
    /\/$/.test(toWords.trim()) || (site.index.folders().has(path) && !/(?:^|\/)(?:index|readme)\.\w+$/i.test(from));
  if (isFolder) path = `${path}/${baseOf(from)}`;
  else if (!pageExtension.test(path)) path += pageExtension.exec(from)?.[0] ?? ".md";
  if (path === from) return { moves: new Map() };
  const taken = takenBy(site.index, path, from);
  if (taken !== null) return { reason: `${taken} already exists; move or delete it first` };
  if (!page.node.isPartial && site.model.role(path) !== "page") {
    return { reason: `${path} would be no page of this ${site.framework} site` };
  }
  return withTranslations(site, new Map([[from, path]]));
}

/** A file at the path, or a page that would have the same route. */
function takenBy(index: SiteIndex, path: string, from: string): string | null {
  if (index.files.has(path)) return path;
  const stem = stripExtension(path);
  const others = [".md", ".mdx"].map((extension) => stem + extension);
  return others.find((other) => other !== from && index.nodes.has(other)) ?? null;
}

function homesOf(site: Site): readonly Home[] {
  return site.model.homes ?? [{ dir: site.root, route: "" }];
}

/** The most specific one that holds a path. */
function homeOf(site: Site, path: string): Home {
  const holders = homesOf(site).filter(({ dir }) => path === dir || isBelow(path, dir));
  const [first] = holders.toSorted((a, b) => b.dir.length - a.dir.length);
  return first ?? { dir: site.root, route: "" };
}

/** The path that words for a new place mean: one of the repository, a route, or one below where the page lives now. */
function placeOf(site: Site, from: string, words: string): string {
  const home = homeOf(site, from);
  const dirs = [...homesOf(site).map(({ dir }) => dir), site.root];
  if (dirs.some((dir) => dir !== "" && isBelow(words, dir))) return words;
  const base = site.index.model.basePath.replace(/^\//, "");
  for (const route of [underDir(base, home.route), home.route, base]) {
    if (
      route !== "" &&
      isBelow(words, route) &&
      !site.index.folders().has(underDir(home.dir, route.split("/")[0] ?? ""))
    ) {
      return underDir(home.dir, words.slice(route.length + 1));
    }
  }
  return underDir(home.dir, words);
}

function folderOf(site: Site, words: string): string | null {
  const path = words.trim().replace(/^(?:\.?\/)+|\/+$/g, "");
  const dirs = ["", site.root, ...homesOf(site).map(({ dir }) => dir)];
  if (path === "" || dirs.includes(path)) return null;
  const homes = homesOf(site).map(({ dir }) => underDir(dir, path));
  const roots = [underDir(site.root, path), ...(isBelow(path, site.root) ? [path] : [])];
  return [...homes, ...roots].find((folder) => site.index.folders().has(folder)) ?? null;
}

function planFolder(site: Site, from: string, to: string): Planned {
  if (to === from) return { moves: new Map() };
  if (isBelow(to, from)) return { reason: `${to} lies inside ${from}; a folder cannot move into itself` };
  const moves = new Map<string, string>();
  for (const path of site.index.files.keys()) {
    if (!isBelow(path, from)) continue;
    const target = `${to}/${path.slice(from.length + 1)}`;
    if (site.index.files.has(target)) return { reason: `${target} already exists; move or delete it first` };
    if (site.index.nodes.get(path)?.isPartial === false && site.model.role(target) !== "page") {
      return { reason: `${target} would be no page of this ${site.framework} site` };
    }
    moves.set(path, target);
  }
  return withTranslations(site, moves);
}

/** A page's translations are found by its path: they go along. */
function withTranslations(site: Site, moves: Map<string, string>): Planned {
  for (const [from, to] of [...moves]) {
    const targets = site.model.translationsOf?.(to) ?? [];
    for (const [i, path] of (site.model.translationsOf?.(from) ?? []).entries()) {
      const target = targets[i];
      if (target === undefined || !site.index.files.has(path)) continue;
      if (site.index.files.has(target)) return { reason: `${target} already exists; move or delete it first` };
      moves.set(path, target);
    }
  }
  return { moves };
}
