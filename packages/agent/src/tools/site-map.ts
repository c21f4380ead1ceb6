import { checkSite, findPage, type NavList, outsideOf, type Page, type Site } from "@emend/site";
import { Type } from "typebox";
import { formatNames, namesIn, type SiteNames } from "../rules/names.ts";
import { copiesOutside, countList, countOf, pathFilter } from "./paths.ts";
import { defineTool, fitItems, type ToolAnswer, type ToolContext } from "./tool.ts";

const findingsShownMax = 10;

/** Models use `list_files {show}`; `emend/rules` looks up pages here. */
export const siteMapTool = defineTool({
  name: "site_map",
  description: "The navigation, and pages outside it. `find`: one page by path, route or title.",
  input: Type.Object(
    {
      find: Type.Optional(Type.String({ minLength: 1 })),
      under: Type.Optional(Type.String()),
      titles: Type.Optional(Type.Boolean()),
      namesIn: Type.Optional(Type.String()),
    },
    { additionalProperties: false },
  ),
  async run(context, { find, under = "", titles = false, namesIn: text }, signal) {
    if (text !== undefined) {
      const items = formatNames(namesIn(text, siteNames(await context.site.head(signal))));
      return { kind: "answer", text: fitItems(items, context.outputBytesMax, () => "").text };
    }
    if (find === undefined) return siteMap(context, { under, titles }, signal);
    return { kind: "answer", text: look(await context.site.head(signal), find) };
  },
});

export async function siteMap(
  { site, outputBytesMax }: ToolContext,
  { under, titles }: { under: string; titles: boolean },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const head = await site.head(signal);
  const folder = under.replace(/^\.?\//, "").replace(/\/+$/, "");
  const isBelow = pathFilter([folder, `${head.root}/${folder}`]);
  const copyOf = copiesOutside(
    head.pages.map(({ path }) => path),
    folder,
  );
  const folded = new Map<string, number>();
  const pages = head.pages.filter(({ path }) => {
    const copy = copyOf(path);
    if (copy !== null) folded.set(copy, (folded.get(copy) ?? 0) + 1);
    return copy === null && isBelow(path);
  });
  if (pages.length === 0 && folder !== "") return { kind: "answer", text: look(head, under) };
  const others = folded.size > 0 && folder === "" ? `; not shown: ${countList(folded)}` : "";
  const sites = outsideOf(head).sites.map(
    ({ root, framework, pages: count }) => `${root} (${framework}, ${count} pages)`,
  );
  const outside = sites.length === 0 ? "" : `; other sites of the repository: ${sites.join(", ")}`;
  const total = `${head.framework}, ${countOf(head.pages.length, "page")}, ${pages.length} here${others}${outside}`;
  const items = titles ? pages.toSorted(byPath).map(describe) : await outline(head, pages, folder);
  const { text } = fitItems(items, outputBytesMax - 400, (shown) =>
    shown < items.length ? `… ${items.length - shown} more lines; narrow \`under\` down` : "",
  );
  return { kind: "answer", text: `${total}\n${text}` };
}

function siteNames(site: Site): SiteNames {
  const root = site.root === "" ? "" : `${site.root}/`;
  const inRoot = (path: string) => (path.startsWith(root) ? path.slice(root.length) : path);
  const folders = new Set<string>();
  for (const { path } of site.pages) {
    const inside = inRoot(path);
    for (let at = inside.indexOf("/"); at !== -1; at = inside.indexOf("/", at + 1)) folders.add(inside.slice(0, at));
  }
  const groups = new Set(site.navigation.flatMap(({ trail }) => trail.slice(-1)));
  const headings = [...site.index.nodes.values()].flatMap(({ path, brief }) =>
    brief.ids.map((id) => ({ page: inRoot(path), id })),
  );
  const pages = site.pages.map(({ path, route, title }) => ({ path: inRoot(path), route, title }));
  return { pages, folders: [...folders], groups: [...groups], headings };
}

function look(site: Site, words: string): string {
  const search = findPage(site, words);
  if (search.kind === "found") return `found:\n${describe(search.page)}`;
  if (search.kind === "ambiguous") return `several:\n${search.pages.map(describe).join("\n")}`;
  return ["none; nearest:", ...search.nearest.map(describe)].join("\n");
}

/** The groups that list any of these pages, then unlisted pages, then problems of the navigation. */
async function outline(site: Site, pages: readonly Page[], folder: string): Promise<readonly string[]> {
  const names = new Map(pages.flatMap((page) => [page.route, page.path].map((name) => [plain(name), page] as const)));
  const listed = new Set<Page>();
  const groups = site.navigation.flatMap((list) => {
    const targets = list.items.flatMap(({ target }) => (target === null ? [] : [target]));
    const found = targets.flatMap(
      (target) => names.get(plain(target)) ?? names.get(plain(`${site.root}/${target}`)) ?? [],
    );
    for (const page of found) listed.add(page);
    const isHere = found.length > 0 || (folder === "" && targets.length === 0 && list.isFixed !== true);
    return isHere ? [describeList(list, targets)] : [];
  });
  const unlisted = pages.filter((page) => !listed.has(page)).sort(byPath);
  const findings = (await checkSite(site)).filter(
    ({ check }) => check.includes("navigation") && !check.includes("orphan"),
  );
  const wrong = findings
    .slice(0, findingsShownMax)
    .map(({ severity, path, line, message }) => `${severity} ${path}:${line}: ${message}`);
  const more = findings.length > wrong.length ? [`… ${findings.length - wrong.length} more such findings`] : [];
  const label = groups.length === 0 ? "pages" : "not in the navigation";
  return [...groups, ...wrong, ...more, ...byFolder(unlisted, label)];
}

function byFolder(pages: readonly Page[], label: string): readonly string[] {
  const folders = Map.groupBy(pages, ({ path }) => path.slice(0, path.lastIndexOf("/") + 1));
  const lines = [...folders].map(
    ([folder, list]) => `${folder || "./"} ${list.map(({ path }) => path.slice(folder.length)).join(" ")}`,
  );
  return lines.length === 0 ? [] : [`${label} (${pages.length}):`, ...lines];
}

function describe(page: Page): string {
  return `${page.path}\t${page.route}\t${page.title ?? ""}`;
}

function describeList({ file, trail }: NavList, targets: readonly string[]): string {
  return `${trail.join(" › ") || file}: ${targets.join(" ")}`;
}

function byPath(a: Page, b: Page): number {
  return a.path < b.path ? -1 : 1;
}

function plain(target: string): string {
  return target
    .replace(/^\/+/, "")
    .replace(/\.mdx?$/i, "")
    .replace(/\/(?:index|readme)$/i, "");
}
