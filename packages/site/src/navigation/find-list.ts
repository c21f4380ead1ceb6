import type { NavList } from "../frameworks/framework.ts";
import { editDistance } from "../links/nearest.ts";
import type { SiteIndex } from "../links/site-index.ts";
import { dirOf, isBelow, routeKey } from "../links/target.ts";
import type { Site } from "../site.ts";

/** Splits a name from its location, which is added if the name is ambiguous: "Guides (docs.json:12)". */
export function splitPlace(words: string): { name: string; isAt(file: string, line: number): boolean } {
  const found = /^(.*\S)\s+\((\S+):(\d+)\)$/.exec(words.trim());
  if (found === null) return { name: words.trim(), isAt: () => true };
  const [, name = "", file, line] = found;
  return { name, isAt: (otherFile, otherLine) => otherFile === file && otherLine === Number(line) };
}

export function withPlace(name: string, file: string, line: number): string {
  return `${name} (${file}:${line})`;
}

function lineOf({ items }: NavList): number {
  return items[0]?.line ?? 1;
}

/** The names of matching groups, made unique. */
function namesOf(lists: readonly NavList[]): string {
  const trails = lists.map(({ trail }) => trail.join(" › "));
  const names = lists.map((list, i) => {
    const trail = trails[i] as string;
    const isOnly = trails.filter((other) => other === trail).length === 1;
    return isOnly ? trail : withPlace(trail, list.file, lineOf(list));
  });
  return names.slice(0, 5).join("; ");
}

/** The list of a group's name: its own name, its name with parent names ("Guides › Security"), or its location. */
export function findList(site: Site, group: string): NavList | { reason: string } {
  const { name, isAt } = splitPlace(group);
  const goal = name.toLowerCase();
  const path = goal.split(/\s*(?:›|>|\/)\s*/);
  const open = site.navigation.filter((list) => list.isFixed !== true);
  const named = open.filter((list) => list.trail.at(-1)?.toLowerCase() === goal);
  const nested = open.filter((list) => leadsThrough(list.trail, path));
  const found = (named.length > 0 ? named : nested).filter((list) => isAt(list.file, lineOf(list)));
  const [list] = found;
  if (list !== undefined && found.length === 1) return list;
  if (found.length > 1) {
    return {
      reason: `several groups are called "${group}": ${namesOf(found)}; name one as it is written here`,
    };
  }
  const names = [...new Set(open.map((one) => one.trail.at(-1) ?? ""))].filter((name) => name !== "");
  names.sort((a, b) => editDistance(goal, a.toLowerCase(), 30) - editDistance(goal, b.toLowerCase(), 30));
  const hint = names.length === 0 ? "there are none" : `there is ${names.slice(0, 6).join(", ")}`;
  return { reason: `the navigation has no group "${group}"; ${hint}` };
}

/** Whether the names appear in this order among the list's parents, and the last is the list's own. */
function leadsThrough(trail: readonly string[], path: readonly string[]): boolean {
  if (trail.at(-1)?.toLowerCase() !== path.at(-1)) return false;
  let next = 0;
  for (const name of trail) if (name.toLowerCase() === path[next]) next += 1;
  return next === path.length;
}

/** The version or language of a page, by its folder. */
function homeOf(site: Site, path: string): string {
  const dirs = (site.model.homes ?? []).map(({ dir }) => dir).filter((dir) => isBelow(path, dir));
  return dirs.sort((a, b) => b.length - a.length)[0] ?? "";
}

/** The best list for a page: the one with most pages of its folder, else the first of its version and language. */
export function listFor(site: Site, path: string): NavList | null {
  const folder = dirOf(path);
  const home = homeOf(site, path);
  let best: NavList | null = null;
  let related: NavList | null = null;
  let most = 0;
  const open = site.navigation.filter((list) => list.isFixed !== true);
  for (const list of open) {
    let neighbours = 0;
    for (const { target } of list.items) {
      const page = target === null ? null : pageOfTarget(site.index, target);
      if (page === null) continue;
      if (dirOf(page) === folder) neighbours++;
      if (related === null && homeOf(site, page) === home) related = list;
    }
    if (neighbours > most) {
      most = neighbours;
      best = list;
    }
  }
  return best ?? related ?? open[0] ?? null;
}

/** The page of a navigation target, or null. */
export function pageOfTarget(index: SiteIndex, target: string): string | null {
  const named = index.model.navRoute(target);
  if ("path" in named) return index.nodes.has(named.path) ? named.path : null;
  return index.routes.get(routeKey(named.route)) ?? null;
}

/** Every page in the navigation. */
export function listedPages(index: SiteIndex): ReadonlySet<string> {
  const listed = new Set<string>();
  for (const list of index.model.navigation) {
    for (const { target } of list.items) {
      const page = target === null ? null : pageOfTarget(index, target);
      if (page !== null) listed.add(page);
    }
  }
  return listed;
}
