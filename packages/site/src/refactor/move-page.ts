import { resolveTarget } from "../links/resolve.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import { dirOf, relativePath, routeKey } from "../links/route.ts";
import { buildIndex, makeNode, type PageNode, type SiteIndex } from "../links/site-index.ts";
import { isExternal } from "../links/target.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { readFactsOf } from "../parse/read-facts.ts";
import type { Site } from "../site.ts";
import { toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring, SiteFile } from "../types.ts";
import { createPlan, type EditPlan, refuse, replaceRange } from "./edit-plan.ts";
import { moveInNavigation } from "./move-navigation.ts";
import { moveRedirects } from "./move-redirects.ts";
import { type Moves, planMoves } from "./plan-moves.ts";
import { rememberReads } from "./remember-reads.ts";

/** Moves a page or a folder: links to it and inside it, its navigation entry and a redirect move along. */
export async function movePage(opened: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const site = rememberReads(opened);
  const planned = planMoves(site, input.from, input.to);
  if ("reason" in planned) return refuse(planned.reason);
  const { moves } = planned;
  const plan = createPlan(site);
  if (moves.size === 0) return plan.finish();
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
  // As it was read: links that are yet to be rewritten would speak for another base.
  return buildIndex({ ...site.index.model, isBaseComputed: false }, files, nodes);
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

/** Two pages at one address: only one would be served. */
function newClash(before: SiteIndex, after: SiteIndex): string | null {
  const known = new Set(before.clashes.map(({ route }) => route));
  const clash = after.clashes.find(({ route }) => !known.has(route));
  return clash === undefined ? null : `${clash.holder} already has the address ${clash.route}; move or delete it first`;
}

/** Front matter may name a neighbour by the id that the navigation knows it by. */
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
