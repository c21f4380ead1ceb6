import type { SiteIndex } from "./site-index.ts";
import { dirOf, isBelow, joinPath, pageExtension, routeKey, splitTarget, underDir } from "./target.ts";

/**
 * What a repository lacks may still be there: other programs make files, serve addresses and list pages. Only that a
 * change took it away is certain.
 */
export const unseen = {
  file: "the build may make or fetch this file",
  address: "the host or another site may serve this address",
  page: "the build may make this page",
} as const;

/** Why absolute links are in doubt. */
export const mostAreBroken =
  "most absolute links of this site do: it may be served below a path that its configuration does not show";

const noPages = "this repository has no page in";
const noFront = "the folder has pages but no front page: the build may make one";

/** Whether a reason says only what the site lacks. A change that is the first to give it caused it. */
export function saysAbsence(why: string): boolean {
  return why === mostAreBroken || why === noFront || why.startsWith(noPages);
}

/** The path without the base path of the site. */
function inBase({ model: { basePath } }: SiteIndex, path: string): string {
  return basePath !== "" && path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path;
}

/** A target that names a file. */
const hasEnding = /\.(?!html?\b)[a-z]\w*(?:[?#]|$)/i;

interface Folders {
  /** Folders with pages, by address and by path. At the top, "" stands for pages beside the front page. */
  filled: ReadonlySet<string>;
  paged: ReadonlySet<string>;
}

const known = new WeakMap<SiteIndex, Folders>();

function foldersOf(index: SiteIndex): Folders {
  let folders = known.get(index);
  if (folders === undefined) {
    folders = { filled: dirsOf(index.routes.keys()), paged: dirsOf(index.nodes.keys()) };
    known.set(index, folders);
  }
  return folders;
}

function dirsOf(paths: Iterable<string>): Set<string> {
  const dirs = new Set<string>();
  for (const path of paths) {
    let dir = dirOf(path);
    if (dir === "" && path !== "") dirs.add("");
    for (; dir !== "" && !dirs.has(dir); dir = dirOf(dir)) dirs.add(dir);
  }
  return dirs;
}

/** What may make a page in a folder. */
function makerFor({ model: { makers } }: SiteIndex, dir: string, filled: ReadonlySet<string>): string | null {
  if (makers === undefined || (makers.isAnywhere !== true && dir !== "" && filled.has(dir))) return null;
  return `${makers.what} may make it`;
}

/** A document among the pages that does not count as one of them. */
function isUnsure({ files, nodes, model: { root } }: SiteIndex, path: string): boolean {
  return pageExtension.test(path) && isBelow(path, root) && files.has(path) && !nodes.has(path);
}

/**
 * Why what a broken target names may be there all the same. Null if nothing speaks for it: there are pages in its
 * folder, or `hasTwin`: only one page of the site can be meant.
 */
export function whyMaybeThere(index: SiteIndex, from: string, target: string, hasTwin = () => false): string | null {
  const { elsewhere, root } = index.model;
  const { path } = splitTarget(target);
  const isRooted = path.startsWith("/");
  const joined = isRooted ? inBase(index, path).slice(1) : joinPath(dirOf(from), path);
  if (joined === null) return hasTwin() ? null : "it leads above this repository, where another site may be";
  const inside = !isRooted && isBelow(joined, root) && root !== "" ? joined.slice(root.length + 1) : joined;
  const key = routeKey(inside);
  const files = [joined, ...[inside, `${key}.md`, `${key}.mdx`].map((name) => underDir(root, name))];
  if (files.some((file) => elsewhere?.isIgnored(file) === true)) {
    return "`.gitignore` names it, so the build may make it";
  }
  const unsure = index.model.links?.sources === undefined ? files.find((file) => isUnsure(index, file)) : undefined;
  if (unsure !== undefined) return `\`${unsure}\` may be a page of the site too`;
  const generated = index.model.isGenerated?.(key);
  if (typeof generated === "string") return generated;
  const isPage = pageExtension.test(path);
  const { filled, paged } = foldersOf(index);
  const folder = dirOf(joined);
  // Builders look for `/folder/page.md` in each of their folders of docs.
  const hasFolder = isRooted
    ? isPage && [...index.folders()].some((one) => one === folder || one.endsWith(`/${folder}`))
    : folder === "" || index.folders().has(folder);
  if (isPage && !isRooted) {
    return makerFor(index, folder, paged) ?? (hasFolder || hasTwin() ? null : absence(folder));
  }
  const file = elsewhere?.namedIn(key) ?? null;
  if (file !== null) return `\`${file}\` names this address, so a plugin or the host may serve it`;
  if (!isPage && hasEnding.test(path)) return unseen.file;
  const dir = dirOf(key);
  const made = elsewhere?.computed ?? makerFor(index, dir, filled);
  if (made !== null) return made;
  if (isRooted && filled.has(key)) return noFront;
  return hasFolder || filled.has(dir) || index.routes.has(dir) || hasTwin() ? null : absence(`/${dir}`);
}

function absence(dir: string): string {
  return `${noPages} \`${dir}/\`, so the build or another site may serve it`;
}
