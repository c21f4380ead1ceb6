import { resolveTarget } from "../links/resolve.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import { dirOf, isBelow, pageExtension, relativePath, stripExtension, underDir } from "../links/route.ts";
import { buildIndex, makeNode, type PageNode, type SiteIndex } from "../links/site-index.ts";
import { isExternal } from "../links/target.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { readFactsOf } from "../parse/read-facts.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring, SiteFile } from "../types.ts";
import { createPlan, type EditPlan, refuse, replaceRange } from "./edit-plan.ts";
import { cleanPath, locatePage } from "./locate-page.ts";
import { moveInNavigation } from "./move-navigation.ts";
import { moveRedirects } from "./move-redirects.ts";
import { rememberReads } from "./remember-reads.ts";

type Moves = ReadonlyMap<string, string>;

/** Moves a page or a folder: links to it and inside it, its navigation entry and a redirect move along. */
export async function movePage(opened: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const site = rememberReads(opened);
  const planned = planMoves(site, input.from, input.to);
  if ("reason" in planned) return refuse(planned.reason);
  const { moves } = planned;
  const plan = createPlan(site);
  if (moves.size === 0) return plan.finish();
  const after = indexAfter(site, moves);
  for (const [from, to] of moves) plan.move(from, to);
  plan.count("pages", [...moves.keys()].filter((path) => site.index.nodes.has(path)).length);
  await rewriteLinks(site, after, moves, plan);
  moveInNavigation(site, after, moves, plan);
  moveRedirects(site, after, moves, plan);
  return plan.finish();
}

function planMoves(site: Site, fromWords: string, toWords: string): { moves: Moves } | { reason: string } {
  const target = cleanPath(stripRoot(site, toWords.trim().replace(/\/+$/, "")));
  if (target === null) return { reason: `"${toWords}" is no path that a page could have` };
  const folder = folderOf(site, fromWords);
  const page = locatePage(site, fromWords);
  if (folder !== null && (page.kind === "refused" || !pageExtension.test(fromWords))) {
    const isPageToo = page.kind === "found" && !isBelow(page.node.path, folder);
    if (!isPageToo) return planFolder(site, folder, underDir(site.root, target));
  }
  if (page.kind === "refused") {
    const there = locatePage(site, toWords);
    const redirect = site.index.redirectFor(fromWords);
    if (there.kind === "found" && redirect !== null) return { moves: new Map() };
    return { reason: page.reason };
  }
  const from = page.node.path;
  const extension = pageExtension.exec(from)?.[0] ?? ".md";
  const isFolder =
    /\/$/.test(toWords.trim()) ||
    (site.index.folders().has(underDir(site.root, target)) && !/(?:^|\/)(?:index|readme)\.\w+$/i.test(from));
  let path = underDir(site.root, target);
  if (isFolder) path = `${path}/${from.slice(from.lastIndexOf("/") + 1)}`;
  else if (!pageExtension.test(path)) path += extension;
  if (path === from) return { moves: new Map() };
  const taken = takenBy(site.index, path);
  if (taken !== null) return { reason: `${taken} already exists; move or delete it first` };
  return { moves: new Map([[from, path]]) };
}

/** A file at the path, or a page that would have the same route. */
function takenBy(index: SiteIndex, path: string): string | null {
  if (index.files.has(path)) return path;
  const stem = stripExtension(path);
  return [".md", ".mdx"].map((extension) => stem + extension).find((other) => index.nodes.has(other)) ?? null;
}

function stripRoot(site: Site, words: string): string {
  const path = words.replace(/^(?:\.?\/)+/, "");
  return site.root !== "" && path.startsWith(`${site.root}/`) ? path.slice(site.root.length + 1) : path;
}

function folderOf(site: Site, words: string): string | null {
  const folder = underDir(site.root, stripRoot(site, words.trim()).replace(/\/+$/, ""));
  if (folder === "" || folder === site.root) return null;
  return site.index.folders().has(folder) ? folder : null;
}

function planFolder(site: Site, from: string, to: string): { moves: Moves } | { reason: string } {
  if (to === from) return { moves: new Map() };
  if (isBelow(to, from)) return { reason: `${to} lies inside ${from}; a folder cannot move into itself` };
  const moves = new Map<string, string>();
  for (const path of site.index.files.keys()) {
    if (!isBelow(path, from)) continue;
    const target = `${to}/${path.slice(from.length + 1)}`;
    if (site.index.files.has(target)) return { reason: `${target} already exists; move or delete it first` };
    moves.set(path, target);
  }
  return { moves };
}

/** The index as it will be: to resolve the new links in. */
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
  return buildIndex(site.model, files, nodes);
}

/** `../guides/page` in the folder `guides`: right, but nobody writes it so. */
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

/** Rewrites every link that no longer leads where it led. */
async function rewriteLinks(site: Site, after: SiteIndex, moves: Moves, plan: EditPlan): Promise<void> {
  const breathe = createTimeSlice();
  const concerned: PageNode[] = [];
  for (const node of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    if (moves.has(node.path) || leadsToMoved(site.index, node, moves)) concerned.push(node);
  }
  for await (const { node, facts } of readFactsOf(site, concerned)) {
    const { path } = node;
    const newPath = moves.get(path) ?? path;
    for (const link of facts.links) {
      if (isExternal(link.target)) continue;
      const before = resolveTarget(site.index, path, link.target, link.kind);
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
