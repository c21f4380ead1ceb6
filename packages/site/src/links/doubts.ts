import type { SiteIndex } from "./site-index.ts";
import { dirOf, isBelow, joinPath, pageExtension, routeKey, splitTarget, underDir } from "./target.ts";

/** The path without the base path of the site. */
export function inBase({ model: { basePath } }: SiteIndex, path: string): string {
  return basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

/** A document among the pages that does not count as one of them. */
function isUnsure({ files, nodes, model: { root } }: SiteIndex, path: string): boolean {
  return pageExtension.test(path) && isBelow(path, root) && files.has(path) && !nodes.has(path);
}

/** A target that names a file. */
const hasEnding = /\.(?!html?\b)[a-z]\w*(?:[?#]|$)/i;

/** Why what a broken target names may be there all the same: the repository says so. Null if nothing says so. */
export function whyMaybeThere(index: SiteIndex, from: string, target: string): string | null {
  const { elsewhere, root, makers } = index.model;
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
  const isPage = pageExtension.test(path);
  const isAddress = isRooted || !hasEnding.test(path);
  const file = isAddress || !isPage ? (elsewhere?.namedIn(key) ?? null) : null;
  if (file !== null) return `\`${file}\` names this address, so a plugin or the host may serve it`;
  if (hasEnding.test(path) && !isPage) return null;
  const maker = makers?.isAnywhere === true ? `${makers.what} may make it` : null;
  return (isAddress ? elsewhere?.computed : null) ?? maker;
}
