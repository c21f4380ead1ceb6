/** What the site has, as far as a prompt may mean it. */
export interface SiteNames {
  pages: readonly { path: string; route: string; title: string | null }[];
  folders: readonly string[];
  groups: readonly string[];
  /** By its id, with the page that has it. */
  headings: readonly { page: string; id: string }[];
}

/** What some words may mean on this site. */
export interface Meaning {
  /** Paths. */
  pages: readonly string[];
  isFolder: boolean;
  isGroup: boolean;
  /** The pages with such a heading. */
  headingOf: readonly string[];
}

export interface Names {
  meaning(words: string): Meaning | null;
}

/** The site's names, looked up by whole words: paths, routes, titles, last parts of paths, folders, groups and headings. */
export function createNames(site: SiteNames): Names {
  const meanings = new Map<string, { whole: string[]; part: string[]; isFolder: boolean; isGroup: boolean }>();
  const headings = Map.groupBy(site.headings, ({ id }) => id);
  const at = (name: string) => {
    const found = meanings.get(name) ?? { whole: [], part: [], isFolder: false, isGroup: false };
    meanings.set(name, found);
    return found;
  };
  for (const { path, route, title } of site.pages) {
    const whole = new Set([nameKey(path), nameKey(route), nameKey(title ?? "")]);
    for (const name of whole) at(name).whole.push(path);
    for (const name of new Set([path, route].map((one) => nameKey(one).split("/").at(-1) ?? "")))
      at(name).part.push(path);
  }
  for (const folder of site.folders) at(nameKey(folder)).isFolder = true;
  for (const group of site.groups) at(nameKey(group)).isGroup = true;
  return {
    meaning(words) {
      const key = nameKey(words);
      const { whole = [], part = [], isFolder = false, isGroup = false } = (key !== "" && meanings.get(key)) || {};
      const headingOf = (headings.get(headingKey(words)) ?? []).map(({ page }) => page);
      // A whole path, route or title comes before the last part of another page's path.
      const pages = whole.length > 0 ? whole : part;
      return pages.length > 0 || isFolder || isGroup || headingOf.length > 0
        ? { pages, isFolder, isGroup, headingOf }
        : null;
    },
  };
}

/** A name as people write it: with or without its slashes, extension, capitals and hyphens. */
function nameKey(name: string): string {
  return name
    .trim()
    .replace(/^https?:\/\/[^/]+/, "")
    .replace(/^\.?\/+|\/+$/g, "")
    .replace(/\.mdx?$/i, "")
    .replace(/\/(?:index|readme)$/i, "")
    .replaceAll(/[\s_-]+/g, " ")
    .toLowerCase();
}

/** A heading's usual id. */
function headingKey(text: string): string {
  return text
    .replace(/^#{1,6}\s*/, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\s-]/gu, "")
    .trim()
    .replaceAll(/\s+/g, "-");
}

/** One name a line, for a tool's answer. */
export function formatNames({ pages, folders, groups, headings }: SiteNames): readonly string[] {
  return [
    ...pages.map(({ path, route, title }) => ["page", path, route, title ?? ""]),
    ...folders.map((folder) => ["folder", folder]),
    ...groups.map((group) => ["group", group]),
    ...headings.map(({ page, id }) => ["heading", page, id]),
  ].map((fields) => fields.map((field) => field.replaceAll(/\s+/g, " ")).join("\t"));
}

export function parseNames(answer: string): SiteNames {
  const lines = answer.split("\n").map((line) => line.split("\t"));
  const of = (kind: string) => lines.filter(([first]) => first === kind).map(([, ...fields]) => fields);
  return {
    pages: of("page").map(([path = "", route = "", title = ""]) => ({ path, route, title: title || null })),
    folders: of("folder").map(([folder = ""]) => folder),
    groups: of("group").map(([group = ""]) => group),
    headings: of("heading").map(([page = "", id = ""]) => ({ page, id })),
  };
}

/** The site's names that occur in a text, and a few others to suggest. */
export function namesIn(text: string, site: SiteNames): SiteNames {
  const words = ` ${nameKey(text).replaceAll(/[^\p{L}\p{N}/.@]+/gu, " ")} `;
  const ids = `-${headingKey(text.replaceAll(/[^\p{L}\p{N}_-]+/gu, " "))}-`;
  const isSaid = (name: string) => {
    const key = nameKey(name)
      .replaceAll(/[^\p{L}\p{N}/.@]+/gu, " ")
      .trim();
    return key !== "" && (words.includes(` ${key} `) || words.includes(`/${key} `) || words.includes(` ${key}.`));
  };
  const isPageSaid = ({ path, route, title }: SiteNames["pages"][number]) =>
    [path, route, title ?? "", nameKey(path).split("/").at(-1) ?? "", nameKey(route).split("/").at(-1) ?? ""].some(
      isSaid,
    );
  const said = site.pages.filter(isPageSaid);
  return {
    pages: [...said, ...site.pages.filter((page) => !said.includes(page)).slice(0, suggestedMax)].slice(0, namesMax),
    folders: [...site.folders.filter(isSaid)],
    groups: [...site.groups.filter(isSaid), ...site.groups.filter((group) => !isSaid(group)).slice(0, suggestedMax)],
    headings: site.headings.filter(({ id }) => ids.includes(`-${id}-`)).slice(0, namesMax),
  };
}

const suggestedMax = 3;
const namesMax = 200;
