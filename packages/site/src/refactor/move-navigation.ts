import type { NavItem, NavList } from "../frameworks/framework.ts";
import type { SiteIndex } from "../links/site-index.ts";
import { baseOf, dirOf, isBelow, relativePath, stripExtension } from "../links/target.ts";
import { pageOfTarget } from "../navigation/find-list.ts";
import type { Site } from "../site.ts";
import { type EditPlan, replaceRange } from "./edit-plan.ts";

type Moves = ReadonlyMap<string, string>;

/** Rewrites navigation entries of moved pages and folders. */
export function moveInNavigation(site: Site, after: SiteIndex, moves: Moves, plan: EditPlan): void {
  const movedFolder = createFolderLookup(site, moves);
  for (const old of site.navigation) {
    const file = moves.get(old.file) ?? old.file;
    const folder = old.folder === undefined ? undefined : (movedFolder(old.folder) ?? old.folder);
    const list: NavList = { ...old, file, ...(folder === undefined ? {} : { folder }) };
    for (const [index, item] of old.items.entries()) {
      const goal = goalOf(site, after, moves, movedFolder, item);
      if (goal === null) continue;
      const isSamePlace = relativePath(dirOf(old.file), goal.from) === relativePath(dirOf(file), goal.to);
      if (isSamePlace && file !== old.file) continue;
      if (list.folder !== undefined) {
        moveBetweenFolders(site, old, list, index, goal, plan);
        continue;
      }
      const text = textOf(site, after, list, item, goal);
      if (text === null && !goal.isFolder)
        plan.skip({ path: old.file, line: item.line, reason: `no way to write the entry for ${goal.to}` });
      if (text === null || text === item.target) continue;
      plan.splice(old.file, replaceRange(item.targetStart, item.targetEnd, text));
      plan.count("navigation");
    }
  }
}

/** What an entry names, before and after. `to` is "" if nothing remains. */
interface Goal {
  from: string;
  to: string;
  isFolder: boolean;
}

function goalOf(
  site: Site,
  after: SiteIndex,
  moves: Moves,
  movedFolder: (folder: string) => string | null,
  { target, folder, isForeign }: NavItem,
): Goal | null {
  const page = target === null ? null : pageOfTarget(site.index, target);
  const moved = page === null ? undefined : moves.get(page);
  if (page !== null && moved !== undefined && after.nodes.has(moved)) {
    // An entry may stand both for a folder and for its first page.
    const to = folder === undefined ? null : movedFolder(folder.path);
    if (folder === undefined || to === null) return { from: page, to: moved, isFolder: false };
    return { from: folder.path, to, isFolder: true };
  }
  if (folder === undefined || folder.path === folder.below || (target !== null && !isForeign)) return null;
  const to = movedFolder(folder.path);
  return to === null ? null : { from: folder.path, to, isFolder: true };
}

function textOf(site: Site, after: SiteIndex, list: NavList, item: NavItem, goal: Goal): string | null {
  if (goal.isFolder) return goal.to === "" ? null : relativePath(item.folder?.below ?? "", goal.to);
  const node = after.nodes.get(goal.to);
  if (node === undefined) return null;
  const target = site.model.navTarget(goal.to, node.route, node.brief.fields, list);
  const written = list.written === undefined ? target : list.written(target, item, node.route);
  if (written === null) return null;
  const isRoute = item.target?.startsWith("/") === true;
  const slashed = isRoute && !written.startsWith("/") && list.written === undefined ? `/${written}` : written;
  return isRoute && item.target?.endsWith("/") === false ? slashed.replace(/(.)\/$/, "$1") : slashed;
}

/** If each folder lists its own files, an entry moves from the old folder's list to the new one's, if there is one. */
function moveBetweenFolders(site: Site, old: NavList, list: NavList, index: number, goal: Goal, plan: EditPlan): void {
  const item = old.items[index];
  if (item === undefined) return;
  const name = stripExtension(baseOf(goal.to));
  if (goal.to !== "" && dirOf(goal.to) === list.folder) {
    const text = list.written?.(name, item, "") ?? name;
    if (old.text?.slice(item.targetStart, item.targetEnd) === text) return;
    plan.splice(old.file, replaceRange(item.targetStart, item.targetEnd, text));
  } else {
    for (const splice of old.remove?.(index) ?? []) plan.splice(old.file, splice);
    const other = goal.to === "" ? undefined : site.navigation.find((one) => one.folder === dirOf(goal.to));
    if (other?.text !== undefined) {
      const inserted = other.insert(other.text, other.items.length, name, item.label ?? name, item.source);
      plan.splice(other.file, inserted);
    }
  }
  plan.count("navigation");
}

/**
 * The new location of a folder: the folder that all its files moved to, "" if they moved to several, or null if some
 * stayed.
 */
function createFolderLookup(site: Site, moves: Moves): (folder: string) => string | null {
  const known = new Map<string, string | null>();
  return (folder) => {
    const found = known.get(folder);
    if (found !== undefined) return found;
    const goal = lookUp(folder);
    known.set(folder, goal);
    return goal;
  };

  function lookUp(folder: string): string | null {
    const targets = new Set<string>();
    for (const path of site.index.files.keys()) {
      if (!isBelow(path, folder)) continue;
      const moved = moves.get(path);
      // A folder's own list file does not keep the folder alive.
      if (moved === undefined && site.navigation.some((list) => list.file === path)) continue;
      if (moved === undefined) return null;
      const inside = path.slice(folder.length);
      targets.add(moved.endsWith(inside) ? moved.slice(0, -inside.length) : "");
    }
    const [first, ...others] = targets;
    if (first === undefined) return null;
    return others.length === 0 && !site.index.folders().has(first) ? first : "";
  }
}
