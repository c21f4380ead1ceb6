import { baseOf, isBelow, pageExtension, stripExtension } from "../links/route.ts";
import type { Model } from "./framework.ts";

const hiddenFolder = /(?:^|\/)(?:node_modules|vendor|\.[^/]+)\//;
/** Files for people who work on the repository, not pages of its site. */
const repositoryFile =
  /^(?:contributing|code_of_conduct|security|license|agents|claude|governance|maintainers|support|pull_request_template)$/i;

/** A Markdown file below a folder, outside hidden and vendored ones. */
export function isDocument(path: string, root: string): boolean {
  if (!pageExtension.test(path) || !isBelow(path, root)) return false;
  return !hiddenFolder.test(root === "" ? path : path.slice(root.length + 1));
}

export function isRepositoryFile(path: string, root: string): boolean {
  const inside = root === "" ? path : path.slice(root.length + 1);
  return !inside.includes("/") && repositoryFile.test(stripExtension(baseOf(inside)));
}

/** The route that a path suggests: no extension, `index` and `README` are their folder. */
export function folderRoute(path: string, root: string): string {
  const inside = stripExtension(root === "" ? path : path.slice(root.length + 1));
  const route = inside.replace(/(?:^|\/)(?:index|readme)$/i, "");
  return `/${route}`;
}

/** Of a site whose navigation and redirects stand in no file that Emend reads, or are not edited there. */
export const unlisted = {
  navigation: [],
  labels: [],
  listsPages: false,
  navRoute: (target) => ({ route: target }),
  navTarget: (_path, route) => route,
  redirects: [],
  redirectStore: null,
  redirectTarget: (_path, route) => route,
} satisfies Partial<Model>;
