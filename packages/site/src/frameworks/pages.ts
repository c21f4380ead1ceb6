import { baseOf, isBelow, pageExtension, stripExtension, underDir } from "../links/target.ts";
import { entryOf, type Literal, stringOf, walkLiteral } from "../literal/literal.ts";
import type { Model, NavList } from "./framework.ts";

const hiddenFolder = /(?:^|\/)(?:node_modules|vendor|\.[^/]+)\//;
/** Files for contributors of the repository. They are pages of its site only if the navigation lists them. */
const repositoryFile =
  /^(?:contributing|code_of_conduct|security|license|agents|claude|governance|maintainers|support|pull_request_template)$/i;

/** A Markdown file below a folder, outside hidden and vendored folders. */
export function isDocument(path: string, root: string): boolean {
  if (!pageExtension.test(path) || !isBelow(path, root)) return false;
  return !hiddenFolder.test(root === "" ? path : path.slice(root.length + 1));
}

export function repositoryFiles(root: string, navigation: readonly NavList[]): (path: string) => boolean {
  const name = (target: string) => stripExtension(target).replace(/^\//, "");
  const listed = new Set(navigation.flatMap(({ items }) => items.flatMap(({ target }) => name(target ?? ""))));
  return (path) => {
    const inside = root === "" ? path : path.slice(root.length + 1);
    if (inside.includes("/") || !repositoryFile.test(stripExtension(baseOf(inside)))) return false;
    return !listed.has(name(inside));
  };
}

/** The default route of a path: without extension, and `index` and `README` are their folder. */
export function folderRoute(path: string, root: string): string {
  const inside = stripExtension(root === "" ? path : path.slice(root.length + 1));
  const route = inside.replace(/(?:^|\/)(?:index|readme)$/i, "");
  return `/${route}`;
}

/** For sites whose navigation and redirects are not in files that Emend reads or edits. */
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

/** The languages of a site as folders of its pages. The default one's is "" if it is at the root. */
export interface Languages {
  standard: string;
  others: readonly string[];
}

/** Reads the languages from the keys of `locales` in a configuration, and its `defaultLocale`. */
export function readLanguages(config: Literal): Languages {
  const nodes = [...walkLiteral(config)];
  const locales = nodes.map((node) => entryOf(node, "locales")).find((one) => one !== undefined);
  const names =
    locales?.kind === "object"
      ? locales.entries.map(({ key }) => key)
      : locales?.kind === "array"
        ? locales.items.flatMap((item) => stringOf(item) ?? [])
        : [];
  const named = nodes.map((node) => stringOf(entryOf(node, "defaultLocale"))).find((name) => name !== null);
  const standard = named !== undefined && names.includes(named ?? "") && !names.includes("root") ? (named ?? "") : "";
  return { standard, others: names.filter((name) => name !== standard && name !== "root") };
}

/** The model's functions for languages as folders: a page's translations have the same path in other folders. */
export function languageFolders(
  root: string,
  { standard, others }: Languages,
): Pick<Model, "homes" | "translationsOf"> {
  if (others.length === 0) return {};
  const own = underDir(root, standard).replace(/\/$/, "");
  const folders = others.map((locale) => ({ dir: underDir(root, locale), route: locale }));
  return {
    homes: [{ dir: own, route: standard }, ...folders, ...(standard === "" ? [] : [{ dir: root, route: "" }])],
    translationsOf(path) {
      if (!isBelow(path, own) || folders.some(({ dir }) => isBelow(path, dir))) return [];
      const inside = own === "" ? path : path.slice(own.length + 1);
      return folders.map(({ dir }) => underDir(dir, inside));
    },
  };
}

/** Matches paths against an ignore file with git's syntax: folders, names, `*` and `**`; `!` negates. */
export function createIgnore(text: string): (path: string) => boolean {
  const rules: { expression: RegExp; isIgnored: boolean }[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    // A line with this many wildcards would make matching slow, and nobody writes one.
    if (line === "" || line.startsWith("#") || line.split(/\*+/).length > 4) continue;
    const isIgnored = !line.startsWith("!");
    const pattern = line.replace(/^!/, "").replace(/\/$/, "");
    const isRooted = pattern.includes("/");
    const source = pattern
      .replace(/^\//, "")
      .replace(/[.+^${}()|[\]\\]/g, "\\$&")
      .replace(/\*\*\/?|\*|\?/g, (glob) => (glob === "?" ? "[^/]" : glob === "*" ? "[^/]*" : "(?:.*)"));
    rules.push({ expression: new RegExp(`${isRooted ? "^" : "(?:^|/)"}${source}(?:/|$)`), isIgnored });
  }
  return (path) => rules.findLast(({ expression }) => expression.test(path))?.isIgnored ?? false;
}
