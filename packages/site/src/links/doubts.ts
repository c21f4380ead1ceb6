import { targetsOf } from "../parse/page-brief.ts";
import type { SiteIndex } from "./site-index.ts";
import { dirOf, isBelow, joinPath, pageExtension, routeKey, splitTarget, underDir } from "./target.ts";

// With fewer, the links may be mistakes.
const linksMin = 3;
// With fewer, the site may be a folder of a larger one.
const pagesMin = 20;

/** The path without the base path of the site. */
function inBase({ model: { basePath } }: SiteIndex, path: string): string {
  return basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

interface Census {
  /** Folder without any page → the number of different addresses below it that pages link to. */
  empty: ReadonlyMap<string, number>;
  /** Folder that does not exist → the number of different files in it that pages link to. */
  absent: ReadonlyMap<string, number>;
  /** Folders with pages but no front page that pages link to. */
  frontless: ReadonlySet<string>;
  /** Folders with pages, by address and by path. */
  filled: ReadonlySet<string>;
  paged: ReadonlySet<string>;
}

/** A target that names a file. */
const hasEnding = /\.(?!html?\b)[a-z]\w*(?:[?#]|$)/i;
const censuses = new WeakMap<SiteIndex, Census>();

function takeCensus(index: SiteIndex): Census {
  const known = censuses.get(index);
  if (known !== undefined) return known;
  const filled = dirsOf(index.routes.keys());
  const frontless = new Set<string>();
  const wanted = new Map<string, Set<string>>();
  const near = new Map<string, Set<string>>();
  for (const { path: from, brief } of index.nodes.values()) {
    for (const { target } of targetsOf(brief)) {
      if (!target.startsWith("/")) {
        const path = hasEnding.test(target) ? joinPath(dirOf(from), splitTarget(target).path) : null;
        const dir = path === null ? "" : dirOf(path);
        if (path === null || index.folders().has(dir)) continue;
        const list = near.get(dir);
        if (list === undefined) near.set(dir, new Set([path]));
        else list.add(path);
        continue;
      }
      if (target.startsWith("//")) continue;
      const key = routeKey(inBase(index, splitTarget(target).path));
      const dir = dirOf(key);
      if (filled.has(key) && !index.routes.has(key)) frontless.add(key);
      if (dir === "" || filled.has(dir) || index.routes.has(key)) continue;
      const list = wanted.get(dir);
      if (list === undefined) wanted.set(dir, new Set([key]));
      else list.add(key);
    }
  }
  const sizes = (map: ReadonlyMap<string, Set<string>>): Map<string, number> =>
    new Map([...map].map(([name, keys]) => [name, keys.size]));
  const paged = dirsOf(index.nodes.keys());
  const census = { empty: sizes(wanted), absent: sizes(near), frontless, filled, paged };
  censuses.set(index, census);
  return census;
}

function dirsOf(paths: Iterable<string>): Set<string> {
  const dirs = new Set<string>();
  for (const path of paths) for (let dir = dirOf(path); dir !== "" && !dirs.has(dir); dir = dirOf(dir)) dirs.add(dir);
  return dirs;
}

/** What may make a page in a folder. */
function makerFor({ model: { makers } }: SiteIndex, dir: string, filled: ReadonlySet<string>): string | null {
  if (makers === undefined || (makers.isAnywhere !== true && filled.has(dir))) return null;
  return `${makers.what} may make it`;
}

const tops = new WeakMap<SiteIndex, ReadonlySet<string> | null>();

/** Whether an address is outside all top folders of a site that has no page above them. */
function isOutside(index: SiteIndex, key: string): boolean {
  let folders = tops.get(index);
  if (folders === undefined) {
    const keys = [...index.routes.keys()];
    const found = new Set(keys.filter((one) => one.includes("/")).map((one) => one.split("/")[0] as string));
    // The front page of a folder may be above it.
    folders = keys.length >= pagesMin && keys.every((one) => one.includes("/") || found.has(one)) ? found : null;
    tops.set(index, folders);
  }
  return folders !== null && folders.size > 0 && !folders.has(key.split("/")[0] as string);
}

/** A document among the pages that does not count as one of them. */
function isUnsure({ files, nodes, model: { root } }: SiteIndex, path: string): boolean {
  return pageExtension.test(path) && isBelow(path, root) && files.has(path) && !nodes.has(path);
}

/**
 * Why what a broken target names may be there all the same: the repository says so, or the build makes it. Null if
 * nothing speaks for it.
 */
export function whyMaybeThere(index: SiteIndex, from: string, target: string): string | null {
  const { elsewhere, root } = index.model;
  const { path } = splitTarget(target);
  const isRooted = path.startsWith("/");
  const joined = isRooted ? inBase(index, path).slice(1) : joinPath(dirOf(from), path);
  if (joined === null) return null;
  const inside = !isRooted && isBelow(joined, root) && root !== "" ? joined.slice(root.length + 1) : joined;
  const key = routeKey(inside);
  const files = [joined, ...[inside, `${key}.md`, `${key}.mdx`].map((name) => underDir(root, name))];
  if (files.some((file) => elsewhere?.isIgnored(file) === true)) {
    return "`.gitignore` names it, so the build may make it";
  }
  const unsure = index.model.links?.sources === undefined ? files.find((file) => isUnsure(index, file)) : undefined;
  if (unsure !== undefined) return `\`${unsure}\` may be a page of the site too`;
  const made = index.model.isGenerated?.(key);
  if (typeof made === "string") return made;
  const { empty, absent, frontless, filled, paged } = takeCensus(index);
  const isPage = pageExtension.test(path);
  if (!isRooted && hasEnding.test(path)) {
    const files = absent.get(dirOf(joined)) ?? 0;
    if (files >= linksMin) {
      return `pages link to ${files} files in \`${dirOf(joined)}/\`, a folder that this repository does not have: the build may fetch it`;
    }
    if (isPage) return makerFor(index, dirOf(joined), paged);
  }
  const file = elsewhere?.namedIn(key) ?? null;
  if (file !== null) return `\`${file}\` names this address, so a plugin or the host may serve it`;
  if (isRooted && isOutside(index, key)) {
    return "every page of this site is in a folder at its top, and this address is in none: the host may serve it";
  }
  if (frontless.has(key) && frontless.size >= linksMin) {
    return `pages link to ${frontless.size} folders that have pages but no front page: the build may make one`;
  }
  const dir = dirOf(key);
  const count = dir === "" ? 0 : (empty.get(dir) ?? 0);
  if (count < linksMin) {
    const isFile = hasEnding.test(path) && !isPage;
    return isFile ? null : (elsewhere?.computed ?? makerFor(index, dir, filled));
  }
  return `pages link to ${count} addresses below \`/${dir}/\`, where this repository has no page: the build or another site may serve them`;
}
