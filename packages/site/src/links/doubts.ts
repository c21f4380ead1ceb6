import type { SiteIndex } from "./site-index.ts";
import { dirOf, isBelow, joinPath, pageExtension, routeKey, splitTarget, underDir } from "./target.ts";

// With fewer, the links may be mistakes.
const linksMin = 3;

/** The path without the base path of the site. */
function inBase({ model: { basePath } }: SiteIndex, path: string): string {
  return basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

interface Census {
  /** Folder without any page → the number of different addresses below it that pages link to. */
  empty: ReadonlyMap<string, number>;
  /** Folders with pages but no front page that pages link to. */
  frontless: ReadonlySet<string>;
}

const censuses = new WeakMap<SiteIndex, Census>();

function takeCensus(index: SiteIndex): Census {
  const known = censuses.get(index);
  if (known !== undefined) return known;
  const filled = new Set<string>();
  for (const key of index.routes.keys())
    for (let dir = dirOf(key); dir !== "" && !filled.has(dir); dir = dirOf(dir)) filled.add(dir);
  const frontless = new Set<string>();
  const wanted = new Map<string, Set<string>>();
  for (const { brief } of index.nodes.values()) {
    for (const target of brief.links) {
      if (!target.startsWith("/") || target.startsWith("//")) continue;
      const key = routeKey(inBase(index, splitTarget(target).path));
      const dir = dirOf(key);
      if (filled.has(key) && !index.routes.has(key)) frontless.add(key);
      if (dir === "" || filled.has(dir) || index.routes.has(key)) continue;
      const list = wanted.get(dir);
      if (list === undefined) wanted.set(dir, new Set([key]));
      else list.add(key);
    }
  }
  const census = { empty: new Map([...wanted].map(([dir, keys]) => [dir, keys.size])), frontless };
  censuses.set(index, census);
  return census;
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
  // A file of the repository has no other address.
  if (!isRooted && pageExtension.test(path)) return null;
  const file = elsewhere?.namedIn(key) ?? null;
  if (file !== null) return `\`${file}\` names this address, and only the host reads that file`;
  const { empty, frontless } = takeCensus(index);
  if (frontless.has(key) && frontless.size >= linksMin) {
    return `pages link to ${frontless.size} folders that have pages but no front page: the build may make one`;
  }
  const dir = dirOf(key);
  const count = dir === "" ? 0 : (empty.get(dir) ?? 0);
  if (count < linksMin) return elsewhere?.computed ?? null;
  return `pages link to ${count} addresses below \`/${dir}/\`, where this repository has no page: the build or another site may serve them`;
}
