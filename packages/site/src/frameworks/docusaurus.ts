import { baseOf, dirOf, isBelow, stripExtension, underDir } from "../links/route.ts";
import { entryOf, type Literal, stringOf, walkLiteral } from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { FrontMatter } from "../parse/facts.ts";
import { type DocsFolder, readDocsFolders, readLocales } from "./docusaurus-config.ts";
import type { Framework, FrameworkContext, Label, Model, NavList } from "./framework.ts";
import { literalNav } from "./literal-nav.ts";
import { arrayRedirects } from "./literal-redirects.ts";
import { isDocument } from "./pages.ts";

export const docusaurus: Framework = {
  name: "docusaurus",
  marker: /(?:^|\/)docusaurus\.config\.(?:[mc]?[jt]s)$/,
  load: loadDocusaurus,
};

const numberPrefix = /^\d+[-_.\s]+(?=\D)/;

function withoutNumbers(path: string): string {
  return path
    .split("/")
    .map((part) => (/^\d{4}-\d{2}-\d{2}/.test(part) || /^\d+\.\d+/.test(part) ? part : part.replace(numberPrefix, "")))
    .join("/");
}

function join(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split("/"))
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
}

/** The id that sidebars know a document by. */
function documentId(inside: string, fields: FrontMatter["fields"]): string {
  const stem = withoutNumbers(stripExtension(inside));
  const own = typeof fields.id === "string" ? fields.id : baseOf(stem);
  return underDir(dirOf(stem), own);
}

function documentRoute(folder: DocsFolder, inside: string, fields: FrontMatter["fields"]): string {
  const { slug } = fields;
  const dir = withoutNumbers(dirOf(inside));
  if (typeof slug === "string") return slug.startsWith("/") ? join(folder.base, slug) : join(folder.base, dir, slug);
  const id = documentId(inside, fields);
  const name = baseOf(id);
  const isIndex =
    fields.id === undefined &&
    (/^(?:index|readme)$/i.test(name) || (dir !== "" && name.toLowerCase() === baseOf(dir).toLowerCase()));
  return join(folder.base, isIndex ? dir : id);
}

// Tags, categories and archives.
const madeByBuild = /^blog$|(?:^|\/)(?:category|tags|archive|authors|search|page|changelog|rss\.xml|atom\.xml)(?:\/|$)/;
const dated = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[-/](.+)$/;

function blogRoute(inside: string, fields: FrontMatter["fields"], base: string): string {
  const stem = stripExtension(inside).replace(/\/index$/, "");
  const { slug } = fields;
  if (typeof slug === "string") return join(base, slug);
  const found = dated.exec(stem) ?? dated.exec(baseOf(stem));
  return found === null ? join(base, stem) : join(base, found.slice(1).join("/"));
}

async function loadDocusaurus(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = await context.readText(marker);
  if (text === null) return null;
  const top = dirOf(marker);
  const config = parseLiteral(text);
  const folders = await readDocsFolders(context, config, top);
  const locales = readLocales(context, config, top);
  const plugin = (name: string, own: string): OtherFolder[] => [
    { dir: underDir(top, own), locale: "" },
    ...locales.map(({ dir, locale }) => ({ dir: `${dir}/docusaurus-plugin-content-${name}`, locale })),
  ];
  const blogs = plugin("blog", "blog");
  const pageFolders = plugin("pages", "src/pages");
  const pages = underDir(top, "src/pages");
  const { lists, labels, isGrown, files } = await readSidebars(context, folders);
  const client = [...walkLiteral(config)].find((node) => {
    const [first] =
      entryOf(node, "redirects")?.kind === "array" ? (entryOf(node, "redirects") as { items: Literal[] }).items : [];
    return first !== undefined && entryOf(first, "from") !== undefined;
  });
  const redirects =
    client === undefined
      ? { redirects: [], store: null }
      : arrayRedirects({ file: marker, text, root: client, key: "redirects", names: ["from", "to"] });
  const md: Dialect = { ...plainDialect, syntax: "mdx", colons: true };
  const withoutLocale = (route: string): string | null => {
    const found = locales.find(({ locale }) => route === locale || route.startsWith(`${locale}/`));
    return found === undefined ? null : route.slice(found.locale.length + 1);
  };
  const folderOf = (path: string): DocsFolder | undefined => folders.find(({ dir }) => isDocument(path, dir));
  const code = [...context.files.keys()].filter((path) => isBelow(path, pages) && /\.[jt]sx?$/.test(path));
  const hasOtherPlugins = /\bplugins\s*:\s*\[[\s\S]*?\.\.\./.test(text);
  const codeRoutes = new Set(
    code.map((path) =>
      path
        .slice(pages.length + 1)
        .replace(/\.[jt]sx?$/, "")
        .replace(/(?:^|\/)index$/, ""),
    ),
  );
  const firstSegments = new Set([...folders.map(({ base }) => base.split("/")[1]), "blog"]);
  // Plugins that other files configure may serve anything below names of their own.
  const isOfOtherPlugin = (route: string): boolean =>
    hasOtherPlugins && !firstSegments.has(route.split("/")[0]) && !firstSegments.has("");
  return {
    framework: "docusaurus",
    root: top,
    configFiles: [marker, ...files],
    role(path) {
      const home = folderOf(path)?.dir ?? [...blogs, ...pageFolders].find(({ dir }) => isDocument(path, dir))?.dir;
      if (home === undefined) return null;
      return /(?:^|\/)_/.test(path.slice(home.length)) ? "partial" : "page";
    },
    dialect: () => md,
    routes(path, fields) {
      const folder = folderOf(path);
      if (folder !== undefined) {
        const inside = path.slice(folder.dir.length + 1);
        const route = documentRoute(folder, inside, fields);
        return folder.translation === undefined ? [route, `#${folder.id}:${documentId(inside, fields)}`] : [route];
      }
      const blog = blogs.find(({ dir }) => isBelow(path, dir));
      if (blog !== undefined) return [blogRoute(path.slice(blog.dir.length + 1), fields, `${blog.locale}/blog`)];
      const home = pageFolders.find(({ dir }) => isBelow(path, dir));
      if (home === undefined) return [];
      return [join(home.locale, stripExtension(path.slice(home.dir.length + 1)).replace(/(?:^|\/)index$/, ""))];
    },
    publicDirs: [underDir(top, "static")],
    basePath: (stringOf(entryOf(configObject(config), "baseUrl")) ?? "").replace(/\/$/, ""),
    navigation: lists,
    labels,
    listsPages: lists.length > 0 && !isGrown,
    isUnlisted: (path, fields) =>
      folderOf(path) === undefined ||
      folderOf(path)?.translation !== undefined ||
      fields.unlisted === true ||
      fields.draft === true,
    navRoute: (target) => ({ route: target }),
    navTarget(path, _route, fields) {
      const folder = folderOf(path);
      return folder === undefined ? path : `#${folder.id}:${documentId(path.slice(folder.dir.length + 1), fields)}`;
    },
    redirects: redirects.redirects,
    redirectStore: redirects.store,
    redirectTarget: (_path, route) => route,
    checksAbsolute: true,
    isGenerated(route) {
      const own = withoutLocale(route) ?? route;
      return codeRoutes.has(own) || madeByBuild.test(own) || isOfOtherPlugin(own);
    },
    searchDirs(path) {
      const folder = folderOf(path);
      if (folder?.translation === undefined) return [folder?.dir ?? top, top];
      const { of } = folder.translation;
      return [folder.dir, underDir(of, dirOf(path.slice(folder.dir.length + 1))), of, top];
    },
    routeScope: (path) => locales.find(({ dir }) => isBelow(path, dir))?.locale ?? "",
    // What is not translated is served in the default language.
    fallbackRoute: withoutLocale,
    aliases: { "@site/": top },
    relativeRoutes: true,
  };
}

function configObject(config: Literal): Literal | undefined {
  return [...walkLiteral(config)].find((node) => entryOf(node, "baseUrl") !== undefined);
}

interface OtherFolder {
  dir: string;
  locale: string;
}

interface Sidebars {
  lists: NavList[];
  labels: Label[];
  isGrown: boolean;
  files: string[];
}

async function readSidebars(context: FrameworkContext, folders: readonly DocsFolder[]): Promise<Sidebars> {
  const out: Sidebars = { lists: [], labels: [], isGrown: false, files: [] };
  for (const { id, sidebar, translation } of folders) {
    // Languages share their sidebars.
    if (translation !== undefined) continue;
    const text = sidebar === null ? null : await context.readText(sidebar);
    // Without a sidebar file the build lists every page.
    if (sidebar === null || text === null) {
      out.isGrown = true;
      continue;
    }
    const nav = literalNav(
      {
        file: sidebar,
        text,
        targetKeys: ["id"],
        labelKeys: ["label"],
        listKeys: ["items"],
        otherKeys: ["keywords", "tags", "customProps"],
        hasBareTexts: true,
        isForeign: (_target, item) =>
          item.kind === "object" &&
          ["link", "ref", "html", "autogenerated"].includes(stringOf(entryOf(item, "type")) ?? ""),
        name: (target) => `#${id}:${target}`,
        write: (target) => target.slice(target.indexOf(":") + 1),
      },
      parseLiteral(text),
    );
    out.files.push(sidebar);
    out.lists.push(...nav.lists);
    out.labels.push(...nav.labels);
    out.isGrown ||= nav.isGrown;
  }
  return out;
}
