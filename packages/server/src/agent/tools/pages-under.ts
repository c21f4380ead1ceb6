import { findPage, type Site } from "@emend/site";

export type Scope = { kind: "pages"; paths: readonly string[] } | { kind: "refused"; reason: string };

/** The pages of a page's or folder's name. An ambiguous name is refused: `guides/` is the folder. */
export function pagesUnder(site: Site, words: string): Scope {
  const name = words.replace(/^\.?\//, "");
  const prefixes = foldersNamed(site, words);
  const below = site.pages
    .filter((page) => prefixes.some((prefix) => page.path.startsWith(prefix)))
    .map((page) => page.path);
  if (name.endsWith("/")) {
    return below.length > 0
      ? { kind: "pages", paths: below }
      : { kind: "refused", reason: `there are no pages below ${name}` };
  }
  const search = findPage(site, name);
  if (search.kind === "found" && below.length > 0) {
    const reason = `${name} is both a page (${search.page.path}) and a folder; write ${name}/ for the folder`;
    return { kind: "refused", reason };
  }
  if (search.kind === "found") return { kind: "pages", paths: [search.page.path] };
  if (below.length > 0) return { kind: "pages", paths: below };
  const others = search.kind === "ambiguous" ? search.pages : search.nearest;
  return {
    kind: "refused",
    reason: `no single page or folder is named ${JSON.stringify(words)}${list(others.map((page) => page.path))}`,
  };
}

/** The folders that the words may name, each with a trailing slash. */
export function foldersNamed(site: Site, words: string): readonly string[] {
  const folder = words.replace(/^\.?\//, "").replace(/\/+$/, "");
  return [`${folder}/`, ...(site.root === "" ? [] : [`${site.root}/${folder}/`])];
}

function list(paths: readonly string[]): string {
  return paths.length === 0 ? "" : `; there is ${paths.slice(0, 5).join(", ")}`;
}
