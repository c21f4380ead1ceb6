import { editDistance } from "../text/distance.ts";
import { baseOf, dirOf, joinPath, routeKey } from "./route.ts";
import type { PageNode, SiteIndex } from "./site-index.ts";
import { splitTarget } from "./target.ts";

/** Certain enough to write, worth a hint, or nothing. */
export type Nearest = { kind: "certain" | "likely"; path: string } | { kind: "none" };

const none: Nearest = { kind: "none" };

function plain(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9/\u0080-\uffff]+/g, "");
}

function onlyOne(paths: Iterable<string>): string | null {
  const distinct = new Set(paths);
  return distinct.size === 1 ? ([...distinct][0] as string) : null;
}

interface Names {
  byPlain: Map<string, string[]>;
  byBase: Map<string, string[]>;
  byFolder: Map<string, { key: string; page: string }[]>;
}

// By routes: an index whose pages changed without theirs has the same names.
const namesOf = new WeakMap<SiteIndex["routes"], Names>();
// A folder with more pages than this is searched only by exact names.
const folderPagesMax = 2000;

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function collectNames(index: SiteIndex): Names {
  const known = namesOf.get(index.routes);
  if (known !== undefined) return known;
  const names: Names = { byPlain: new Map(), byBase: new Map(), byFolder: new Map() };
  for (const [key, page] of index.routes) {
    push(names.byPlain, plain(key), page);
    push(names.byBase, baseOf(key), page);
    push(names.byFolder, dirOf(key), { key, page });
  }
  namesOf.set(index.routes, names);
  return names;
}

/** The page that a broken target most likely means. */
export function nearestPage(index: SiteIndex, from: PageNode, target: string): Nearest {
  const names = collectNames(index);
  const wanted = wantedKeys(from, splitTarget(target).path);
  const isOther = (page: string): boolean => page !== from.path;
  const same = wanted.flatMap((key) => names.byPlain.get(plain(key)) ?? []).filter(isOther);
  const moved = wanted
    .flatMap((key) => (baseOf(key) === "" ? [] : (names.byBase.get(baseOf(key)) ?? [])))
    .filter(isOther);
  const certain = onlyOne(same) ?? onlyOne(moved);
  if (certain !== null) return { kind: "certain", path: certain };
  const near: { page: string; distance: number }[] = [];
  for (const key of wanted) {
    const max = baseOf(key).length < 6 ? 1 : 2;
    const neighbours = names.byFolder.get(dirOf(key)) ?? [];
    if (neighbours.length > folderPagesMax) continue;
    for (const neighbour of neighbours) {
      const distance = isOther(neighbour.page) ? editDistance(key, neighbour.key, max) : max + 1;
      if (distance <= max) near.push({ page: neighbour.page, distance });
    }
  }
  near.sort((a, b) => a.distance - b.distance);
  const [first] = near;
  if (first === undefined)
    return moved[0] === undefined || moved.length > 3 ? none : { kind: "likely", path: moved[0] };
  const rivals = new Set(near.map((candidate) => candidate.page));
  return { kind: rivals.size === 1 ? "certain" : "likely", path: first.page };
}

/** The route keys that a broken target may stand for. */
function wantedKeys(from: PageNode, path: string): string[] {
  if (path.startsWith("/")) return [routeKey(path)];
  const keys = new Set<string>();
  for (const base of [dirOf(from.route), from.route]) {
    const reached = joinPath(base, path);
    if (reached !== null) keys.add(routeKey(reached));
  }
  return [...keys].filter((key) => key !== "");
}

/** The only id that a broken fragment can mean, or null. */
export function nearestAnchor(ids: ReadonlySet<string>, hash: string): string | null {
  const goal = plain(hash);
  const same = [...ids].filter((id) => plain(id) === goal);
  if (same.length > 0) return same.length === 1 ? (same[0] as string) : null;
  if (hash.length < 5) return null;
  const near = [...ids].filter((id) => editDistance(hash, id, 2) <= 2);
  return near.length === 1 ? (near[0] as string) : null;
}
