import { addressesOf, isDocument, isFront, join, nameOf, parentOf, withoutExtension } from "./addresses.ts";
import { pathPart } from "./written-links.ts";

interface Place {
  address: string;
  file: string;
  /** How the address is made from the file's name. "file": it is the path itself. */
  spelling: string;
}

/** The pages and files of one state of a site, by every address that they may have. */
export interface World {
  pages: readonly string[];
  ofPage: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** `spelling address` → file. */
  places: ReadonlyMap<string, string>;
  /** The last part of an address → the places that end so. */
  byLast: ReadonlyMap<string, readonly Place[]>;
}

function lastPart(address: string): string {
  return address.slice(address.lastIndexOf("/") + 1);
}

export function makeWorld(files: ReadonlySet<string>, heads: ReadonlyMap<string, string>): World {
  const ofPage = new Map<string, ReadonlyMap<string, string>>();
  const places = new Map<string, string>();
  const byLast = new Map<string, Place[]>();
  const add = (place: Place): void => {
    const key = `${place.spelling} ${place.address}`;
    if (!places.has(key)) places.set(key, place.file);
    const list = byLast.get(lastPart(place.address));
    if (list === undefined) byLast.set(lastPart(place.address), [place]);
    else list.push(place);
  };
  for (const file of files) add({ address: file, file, spelling: "file" });
  for (const [page, head] of heads) {
    const addresses = addressesOf(page, head);
    ofPage.set(page, addresses);
    for (const [spelling, address] of addresses) add({ address, file: page, spelling });
  }
  return { pages: [...heads.keys()], ofPage, places, byLast };
}

/** A way to read a link that leads to a file. The site's other links have to confirm it. */
interface Reading {
  manner: Manner;
  file: string;
}

/**
 * `cut` is taken from the front of the written path and `put` is set there instead. `base`: what the path starts at.
 * "top": a leading slash says so; "bare": it starts there without one.
 */
interface Manner {
  key: string;
  spelling: string;
  base: "top" | "bare" | "folder" | "page" | "parent";
  cut: string;
  put: string;
}

function manner(base: Manner["base"], spelling: string, cut = "", put = ""): Manner {
  return { key: [base, spelling, cut, put].join("|"), spelling, base, cut, put };
}

/** The path to look up, and whether it names a file. */
function lookedUp(target: string): { path: string; isFile: boolean } {
  const path = pathPart(target);
  if (/\.html?$/i.test(path)) return { path: withoutExtension(path).replace(/(^|\/)index$/i, "$1"), isFile: false };
  return { path, isFile: isDocument(path) || /\.[a-z]\w{1,4}$/i.test(path) };
}

const bases = ["folder", "page", "parent"] as const;

/** Where a relative path starts, by each way to read it. */
function startOf(world: World, from: string, base: Manner["base"], spelling: string): string | null {
  if (spelling === "file") {
    if (base === "folder") return parentOf(from);
    return base === "page" ? nameOf(from) : parentOf(nameOf(from));
  }
  const own = world.ofPage.get(from)?.get(spelling) ?? world.ofPage.get(from)?.get("plain") ?? nameOf(from);
  if (base === "page") return own;
  return base === "parent" || !isFront(from) ? parentOf(own) : own;
}

const candidatesMax = 400;

/** Every way to read a link that leads to something. */
function readings(world: World, from: string, target: string): Reading[] {
  const { path, isFile } = lookedUp(target);
  const found: Reading[] = [];
  if (path.startsWith("/")) return fromTop(world, "top", path, isFile);
  for (const base of bases) {
    for (const spelling of isFile ? ["file"] : ["plain", "sorted", "lower", "slugged", "slug", "permalink", "url"]) {
      const start = startOf(world, from, base, spelling);
      const address = start === null ? null : join(start, path);
      const file = address === null ? undefined : world.places.get(`${spelling} ${address}`);
      if (file !== undefined) found.push({ manner: manner(base, spelling), file });
    }
  }
  return found.length > 0 ? found : fromTop(world, "bare", path, isFile);
}

function fromTop(world: World, base: "top" | "bare", path: string, isFile: boolean): Reading[] {
  const address = join("", path);
  if (address === null) return [];
  const parts = address.split("/");
  const found: Reading[] = [];
  for (const place of (world.byLast.get(lastPart(address)) ?? []).slice(0, candidatesMax)) {
    if ((place.spelling === "file") !== isFile) continue;
    const others = place.address.split("/");
    let shared = 1;
    while (shared < parts.length && shared < others.length && parts.at(-1 - shared) === others.at(-1 - shared))
      shared++;
    const cut = parts.slice(0, parts.length - shared).join("/");
    const put = others.slice(0, others.length - shared).join("/");
    found.push({ manner: manner(base, place.spelling, cut, put), file: place.file });
  }
  return found;
}

/** The only file whose path or address ends with a name. */
export function findAnywhere(world: World, target: string): string | null {
  const name = (join("", pathPart(target).replace(/^(?:\.\.?\/)+/, "")) ?? "").replace(/\/$/, "");
  const places = world.byLast.get(lastPart(name)) ?? [];
  return places.find(({ address }) => address === name || address.endsWith(`/${name}`))?.file ?? null;
}

/** The file that a link leads to in one manner. */
export function readAs(world: World, from: string, target: string, how: Manner): string | null {
  const { path, isFile } = lookedUp(target);
  if ((how.spelling === "file") !== isFile) return null;
  let address: string | null;
  if (path.startsWith("/") !== (how.base === "top")) return null;
  if (how.base === "top" || how.base === "bare") {
    const inside = join("", path);
    if (inside === null) return null;
    if (how.cut !== "" && inside !== how.cut && !inside.startsWith(`${how.cut}/`)) return null;
    address = join(how.put, inside.slice(how.cut.length));
  } else {
    const start = startOf(world, from, how.base, how.spelling);
    address = start === null ? null : join(start, path);
  }
  if (address === null) return null;
  return placeAt(world, how.spelling, address);
}

/** A page whose name a spelling leaves as it is has only its plain address. */
function placeAt(world: World, spelling: string, address: string): string | null {
  const file = world.places.get(`${spelling} ${address}`);
  if (file !== undefined) return file;
  const plain = ["sorted", "lower", "slugged"].includes(spelling) ? world.places.get(`plain ${address}`) : undefined;
  return plain === undefined || world.ofPage.get(plain)?.has(spelling) ? null : plain;
}

/**
 * The ways in which the site's links are meant, by what most of them agree on. A way that only a link or two of many
 * follow is an accident.
 */
export function learnManners(
  world: World,
  links: readonly { from: string; target: string }[],
  { isStrict = false }: { isStrict?: boolean } = {},
): Manner[] {
  const manners: Manner[] = [];
  for (const isTop of [true, false]) {
    const some = links.filter(({ target }) => target.startsWith("/") === isTop);
    const learned = cover(
      world,
      some.map(({ from, target }) => readings(world, from, target)),
      isStrict,
    );
    if (isStrict) {
      manners.push(...learned);
      continue;
    }
    // Where no link of the site shows how it is meant, as the file's name says.
    const base = isTop ? "top" : "folder";
    const put = isTop ? sharedFolder(world.pages) : "";
    manners.push(...(learned.length > 0 ? learned : [manner(base, "file", "", put), manner(base, "plain", "", put)]));
  }
  return [...new Map(manners.map((one) => [one.key, one])).values()];
}

function sharedFolder(paths: readonly string[]): string {
  let shared = parentOf(paths[0] ?? "");
  for (const path of paths) while (shared !== "" && !path.startsWith(`${shared}/`)) shared = parentOf(shared);
  return shared;
}

function cover(world: World, read: readonly (readonly Reading[])[], isStrict: boolean): Manner[] {
  const chosen: Manner[] = [];
  let left = read.filter((ways) => ways.length > 0);
  const usualMin = Math.max(2, left.length / 200);
  while (left.length > 0) {
    const counts = new Map<string, { how: Manner; count: number }>();
    for (const ways of left) {
      for (const key of new Map(ways.map((way) => [way.manner.key, way.manner])).values()) {
        const known = counts.get(key.key);
        if (known === undefined) counts.set(key.key, { how: key, count: 1 });
        else known.count++;
      }
    }
    const lengthOf = ({ how }: { how: Manner }): number => how.cut.length + how.put.length;
    const [best] = [...counts.values()].sort((a, b) => b.count - a.count || lengthOf(a) - lengthOf(b));
    if (best === undefined || (best.count < usualMin && (isStrict || !isPlain(world, best.how)))) break;
    chosen.push(best.how);
    left = left.filter((ways) => ways.every(({ manner: { key } }) => key !== best.how.key));
  }
  return chosen;
}

/** A path from the page's own folder, or from the folder that holds most pages, needs no second link to confirm it. */
function isPlain(world: World, { base, cut, put, spelling }: Manner): boolean {
  if (base === "folder") return true;
  if ((base !== "top" && base !== "bare") || cut !== "" || spelling === "lower" || spelling === "slugged") return false;
  const below = world.pages.filter((page) => put === "" || page.startsWith(`${put}/`));
  return below.length * 2 >= world.pages.length;
}
