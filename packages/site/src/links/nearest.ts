import type { PageNode, SiteIndex } from "./site-index.ts";
import { baseOf, dirOf, joinPath, routeKey, splitTarget } from "./target.ts";

/** Certain enough to fix, likely enough for a hint, or none. */
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

// Keyed by routes: they stay the same object if pages change without new routes.
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

/**
 * Whether a name can only be the other one misspelled: as many words, and each that differs does so between its first
 * and its last letter, or has the same letters in another order. `reporters` and `reporter`, `prefetch` and `refetch`
 * are words of their own. Never if a digit differs: `v1` and `v2` are different things.
 */
function isSlip(wanted: string, found: string): boolean {
  const digits = (text: string): string => text.replace(/\D/g, "");
  if (digits(wanted) !== digits(found) || baseOf(wanted).length < 4) return false;
  const words = wanted.split(/[^\p{L}\p{N}]+/u);
  const others = found.split(/[^\p{L}\p{N}]+/u);
  return (
    words.length === others.length &&
    words.every((word, n) => {
      const other = others[n] ?? "";
      if (word === other || word.length < 4) return word === other;
      const isInside = word[0] === other[0] && word.at(-1) === other.at(-1);
      return isInside || [...word].sort().join("") === [...other].sort().join("");
    })
  );
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
  const near: { page: string; distance: number; isSlip: boolean }[] = [];
  for (const key of wanted) {
    const max = baseOf(key).length < 6 ? 1 : 2;
    const neighbours = names.byFolder.get(dirOf(key)) ?? [];
    if (neighbours.length > folderPagesMax) continue;
    for (const neighbour of neighbours) {
      const distance = isOther(neighbour.page) ? editDistance(key, neighbour.key, max) : max + 1;
      if (distance <= max) near.push({ page: neighbour.page, distance, isSlip: isSlip(key, neighbour.key) });
    }
  }
  near.sort((a, b) => a.distance - b.distance);
  const [first] = near;
  if (first === undefined)
    return moved[0] === undefined || moved.length > 3 ? none : { kind: "likely", path: moved[0] };
  const rivals = new Set(near.map((candidate) => candidate.page));
  // Two letters apart is certain only if nothing else is nearly as close.
  const isAlone = ({ page, distance }: { page: string; distance: number }): boolean =>
    distance < 2 ||
    !wanted.some((key) =>
      names.byFolder
        .get(dirOf(key))
        ?.some((other) => other.page !== page && isOther(other.page) && editDistance(key, other.key, 4) <= 4),
    );
  return { kind: rivals.size === 1 && first.isSlip && isAlone(first) ? "certain" : "likely", path: first.page };
}

/** The route keys that a broken target may mean. */
function wantedKeys(from: PageNode, path: string): string[] {
  if (path.startsWith("/")) return [routeKey(path)];
  const keys = new Set<string>();
  for (const base of [dirOf(from.route), from.route]) {
    const reached = joinPath(base, path);
    if (reached !== null) keys.add(routeKey(reached));
  }
  return [...keys].filter((key) => key !== "");
}

/** The only id that a broken fragment can mean, and whether that is certain. Null if there is none. */
export function nearestAnchor(ids: ReadonlySet<string>, hash: string): { id: string; isCertain: boolean } | null {
  const goal = plain(hash);
  const same = [...ids].filter((id) => plain(id) === goal);
  if (same.length > 0) return same.length === 1 ? { id: same[0] as string, isCertain: true } : null;
  if (hash.length < 5) return null;
  const near = [...ids].filter((id) => editDistance(hash, id, 2) <= 2);
  const [id] = near;
  if (id === undefined || near.length > 1) return null;
  return { id, isCertain: isSlip(hash, id) };
}

/** The edit distance (insert, delete, replace, swap neighbours) between two strings, capped at max + 1. */
export function editDistance(a: string, b: string, max: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > max) return max + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j++) {
      const cost = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1;
      let value = Math.min((row[j - 1] as number) + 1, (last[j] as number) + 1, (last[j - 1] as number) + cost);
      const isSwap =
        i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (isSwap) value = Math.min(value, (beforeLast[j - 2] as number) + 1);
      row.push(value);
      if (value < best) best = value;
    }
    if (best > max) return max + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
}
