import { cleanPath, locatePage } from "../find-page.ts";
import type { Home } from "../frameworks/framework.ts";
import { indexOfFiles, resolveTarget } from "../links/resolve.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import { buildIndex, makeNode, type PageNode, type SiteIndex } from "../links/site-index.ts";
import {
  baseOf,
  dirOf,
  isBelow,
  isExternal,
  pageExtension,
  relativePath,
  routeKey,
  stripExtension,
  underDir,
} from "../links/target.ts";
import { whyNotMove } from "../links/unjudged.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { readFactsOf } from "../parse/read-page-facts.ts";
import type { Site } from "../site.ts";
import { toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring, SiteFile } from "../types.ts";
import { createPlan, type EditPlan, refuse, rememberReads, replaceRange } from "./edit-plan.ts";
import { moveInNavigation } from "./move-navigation.ts";
import { moveRedirects } from "./redirects.ts";

/** Moves a page or a folder, and updates links to it, links inside it, navigation entries and redirects. */
export async function movePage(opened: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const site = rememberReads(opened);
  const planned = planMoves(site, input.from, input.to);
  if ("reason" in planned) return refuse(planned.reason);
  const { moves } = planned;
  const plan = createPlan(site);
  if (moves.size === 0) return plan.finish();
  const blind = whyNotMove(site.index);
  if (blind !== null) return refuse(blind);
  const after = indexAfter(site, moves);
  const clash = newClash(site.index, after);
  if (clash !== null) return refuse(clash);
  for (const [from, to] of moves) plan.move(from, to);
  plan.count("pages", [...moves.keys()].filter((path) => site.index.nodes.has(path)).length);
  await rewriteLinks(site, after, moves, plan);
  await rewriteIds(site, after, moves, plan);
  moveInNavigation(site, after, moves, plan);
  moveRedirects(site, after, moves, plan);
  return plan.finish();
}

/** The index after the move, to resolve the new links in. */
function indexAfter(site: Site, moves: Moves): SiteIndex {
  const files = new Map<string, SiteFile>();
  for (const [path, file] of site.index.files) {
    const target = moves.get(path);
    if (target === undefined) files.set(path, file);
    else files.set(target, { ...file, path: target });
  }
  const nodes = new Map<string, PageNode>();
  for (const [path, node] of site.index.nodes) {
    const target = moves.get(path);
    if (target === undefined) nodes.set(path, node);
    else if (site.model.role(target) !== null) nodes.set(target, makeNode(site.model, target, node.brief, node.hash));
  }
  // Uses the base path as read: links that are not rewritten yet would suggest another one.
  return buildIndex({ ...site.index.model, isBaseComputed: false }, files, nodes);
}

/**
 * Whether a target leaves its folder and comes back: `../guides/page` in the folder `guides`. Valid, but nobody writes
 * it.
 */
function climbsInVain(from: string, target: string, goal: string): boolean {
  const climbs = (path: string): number => /^(?:\.\.\/)*/.exec(path)?.[0].length ?? 0;
  return climbs(target) > climbs(relativePath(dirOf(from), goal));
}

function leadsToMoved(index: SiteIndex, node: PageNode, moves: Moves): boolean {
  return targetsOf(node.brief).some(({ target, kind }) => {
    const found = resolveTarget(index, node.path, target, kind);
    return (found.kind === "page" || found.kind === "file") && moves.has(found.path);
  });
}

/** Two pages with one route: only one would be served. */
function newClash(before: SiteIndex, after: SiteIndex): string | null {
  const known = new Set(before.clashes.map(({ route }) => route));
  const clash = after.clashes.find(({ route }) => !known.has(route));
  return clash === undefined ? null : `${clash.holder} already has the address ${clash.route}; move or delete it first`;
}

/** Front matter may name another page by its navigation id. */
async function rewriteIds(site: Site, after: SiteIndex, moves: Moves, plan: EditPlan): Promise<void> {
  const { idFields = [] } = site.model;
  for (const node of idFields.length === 0 ? [] : site.index.nodes.values()) {
    for (const field of idFields) {
      const value = node.brief.fields[field];
      const named = typeof value === "string" ? site.model.idTarget?.(node.path, value) : undefined;
      const page = named === undefined ? undefined : site.index.routes.get(routeKey(named));
      const moved = page === undefined ? undefined : moves.get(page);
      const goal = moved === undefined ? undefined : after.nodes.get(moved);
      const bytes = goal === undefined ? null : await site.tree.read(node.path);
      if (goal === undefined || bytes === null) continue;
      const id = goal.routes.find((route) => route.startsWith("#"));
      const found = new RegExp(`^(${field}:[ \\t]*['"]?)([^'"\\r\\n]+?)(?=['"]?[ \\t]*\\r?$)`, "m").exec(
        toByteString(bytes),
      );
      if (id === undefined || found === null) continue;
      const start = found.index + (found[1] as string).length;
      const text = id.slice(id.indexOf(":") + 1);
      plan.splice(node.path, replaceRange(start, start + (found[2] as string).length, text));
      plan.count("links");
    }
  }
}

/** Rewrites every link that no longer resolves to its old destination. */
async function rewriteLinks(site: Site, moved: SiteIndex, moves: Moves, plan: EditPlan): Promise<void> {
  const [index, after] = [indexOfFiles(site.index), indexOfFiles(moved)];
  const breathe = createTimeSlice();
  const concerned: PageNode[] = [];
  for (const node of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    if (moves.has(node.path) || leadsToMoved(index, node, moves)) concerned.push(node);
  }
  for await (const { node, facts } of readFactsOf(site, concerned)) {
    const { path } = node;
    const newPath = moves.get(path) ?? path;
    for (const link of facts.links) {
      if (isExternal(link.target)) continue;
      const before = resolveTarget(index, path, link.target, link.kind);
      if ((before.kind !== "page" && before.kind !== "file") || before.via === "self") continue;
      const goal = moves.get(before.path) ?? before.path;
      if (goal === before.path && newPath === path) continue;
      const now = resolveTarget(after, newPath, link.target, link.kind);
      const isSame = (now.kind === "page" || now.kind === "file") && now.path === goal;
      const isAwkward = isSame && now.via === "file" && climbsInVain(newPath, link.target, goal);
      if (isSame && !isAwkward) continue;
      const text = rewriteTarget(after, newPath, link, goal, before.via);
      if (text === null) {
        plan.skip({ path: newPath, line: link.line, reason: `no way to write the link to ${goal}` });
        continue;
      }
      plan.splice(path, replaceRange(link.start, link.end, text));
      plan.count("links");
    }
  }
}

/** Old path → new path of every file that moves. */
type Moves = ReadonlyMap<string, string>;
type Planned = { moves: Moves } | { reason: string };

/** Which files move where, from the caller's words. */
function planMoves(site: Site, fromWords: string, toWords: string): Planned {
  const target = cleanPath(toWords.trim().replace(/\/+$/, ""));
  if (target === null) return { reason: `"${toWords}" is not a valid path for a page` };
  const folder = folderOf(site, fromWords);
  const page = locatePage(site, fromWords);
  const home = homeNamed(site, fromWords);
  if (home !== null && (page.kind === "refused" || fromWords.trim().endsWith("/"))) {
    const advice = "its name is also in the site's configuration and in the project's settings";
    return { reason: `${home}/ is the folder of the whole site; move it by hand, because ${advice}` };
  }
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

/** The file at the path, or a page that would have the same route. */
function takenBy(index: SiteIndex, path: string, from: string): string | null {
  if (index.files.has(path)) return path;
  const stem = stripExtension(path);
  const others = [".md", ".mdx"].map((extension) => stem + extension);
  return others.find((other) => other !== from && index.nodes.has(other)) ?? null;
}

function homesOf(site: Site): readonly Home[] {
  return site.model.homes ?? [{ dir: site.root, route: "" }];
}

/** The most specific home that contains a path. */
function homeOf(site: Site, path: string): Home {
  const holders = homesOf(site).filter(({ dir }) => path === dir || isBelow(path, dir));
  const [first] = holders.toSorted((a, b) => b.dir.length - a.dir.length);
  return first ?? { dir: site.root, route: "" };
}

/** The path that the words for a new place mean: a repository path, a route, or a path below the page's home. */
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

/** The folder that a whole site is in, if the words name it. */
function homeNamed(site: Site, words: string): string | null {
  const path = folderPath(words);
  return path !== "" && [site.root, ...homesOf(site).map(({ dir }) => dir)].includes(path) ? path : null;
}

function folderPath(words: string): string {
  return words.trim().replace(/^(?:\.?\/)+|\/+$/g, "");
}

function folderOf(site: Site, words: string): string | null {
  const path = folderPath(words);
  if (path === "" || homeNamed(site, words) !== null) return null;
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

/** A page's translations have the same path in other languages, so they move too. */
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
