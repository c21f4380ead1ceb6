import { baseOf, dirOf, isBelow, joinPath, stripExtension, underDir } from "../links/target.ts";
import { entryOf, type Literal, literalOf, stringOf, walkLiteral } from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, type FrontMatter, plainDialect } from "../parse/dialect.ts";
import { computedSetting, type DocsFolder, readBlogs, readDocsFolders, readLocales } from "./docusaurus-config.ts";
import { documentId, readSidebars, withoutNumbers } from "./docusaurus-sidebars.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { isDocument } from "./pages.ts";
import { arrayRedirects, redirectPairs, withEvaluated } from "./redirects.ts";

export const docusaurus: Framework = {
  name: "docusaurus",
  marker: /(?:^|\/)docusaurus\.config\.(?:[mc]?[jt]s)$/,
  load: loadDocusaurus,
};

function join(...parts: string[]): string {
  return `/${parts
    .flatMap((part) => part.split("/"))
    .filter((part) => part !== "" && part !== ".")
    .join("/")}`;
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
  // Links of an index page are relative to its folder.
  return isIndex ? `${join(folder.base, dir)}/`.replace(/^\/\/$/, "/") : join(folder.base, id);
}

// Pages for tags, categories and archives.
const madeByBuild = /(?:^|\/)(?:category|tags|archive|authors|search|page|changelog|rss\.xml|atom\.xml)(?:\/|$)/;
const dated = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[-/](.+)$/;

function blogRoute(inside: string, fields: FrontMatter["fields"], base: string): string {
  const stem = stripExtension(inside).replace(/\/index$/, "");
  const { slug } = fields;
  if (typeof slug === "string") return join(base, slug);
  const found = dated.exec(stem) ?? dated.exec(baseOf(stem));
  return found === null ? join(base, stem) : join(base, found.slice(1).join("/"));
}

/** The options of the plugin for redirects. */
function redirectOptions(config: Literal): Literal | undefined {
  const client = [...walkLiteral(config)].find(
    (node) => node.kind === "array" && /plugin-client-redirects(?:\/|$)/.test(stringOf(node.items[0]) ?? ""),
  );
  return client?.kind === "array" ? client.items[1] : undefined;
}

// Docusaurus' own plugins, whose pages are known.
const ownPlugin =
  /(?:^|\/)(?:docusaurus-)?plugin-(?:content-\w+|client-redirects|ideal-image|pwa|sitemap|debug|svgr|google-[\w-]+)(?:\/|$)/;

/** A plugin that is not Docusaurus' own and may make pages: its name, or "" if it has none. */
function foreignPlugin(values: Literal): string | null {
  const plugins = [...walkLiteral(values)].map((node) => entryOf(node, "plugins")).find((one) => one?.kind === "array");
  const names = (plugins?.kind === "array" ? plugins.items : []).flatMap((item) => {
    const isAbsent = item.kind === "other" && item.value !== undefined;
    return isAbsent ? [] : [stringOf(item.kind === "array" ? item.items[0] : item) ?? ""];
  });
  return names.find((name) => !ownPlugin.test(name)) ?? null;
}

async function loadDocusaurus(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = await context.readText(marker);
  if (text === null) return null;
  const top = dirOf(marker);
  const config = parseLiteral(text);
  const { evaluated } = context;
  const values = evaluated === undefined ? config : literalOf(evaluated);
  const folders = await readDocsFolders(context, values, top);
  const locales = readLocales(context, values, top);
  const plugin = (name: string, own: string, base = ""): OtherFolder[] => [
    { dir: joinPath(top, own) ?? own, locale: "", base },
    ...locales.map(({ dir, locale }) => ({ dir: `${dir}/docusaurus-plugin-content-${name}`, locale, base })),
  ];
  const blogs = readBlogs(values).flatMap(({ id, path, route }) =>
    plugin(id === "default" ? "blog" : `blog-${id}`, path, route),
  );
  const blogFronts = new Set(blogs.map(({ base }) => base.replace(/^\/|\/$/g, "")));
  const pageFolders = plugin("pages", "src/pages");
  const pages = underDir(top, "src/pages");
  const {
    lists,
    labels,
    isGrown,
    computed: computedEntries,
    files,
  } = await readSidebars(context, folders, { file: marker, text, config });
  const options = redirectOptions(config);
  const written =
    options?.kind === "object"
      ? arrayRedirects({ file: marker, text, root: options, key: "redirects", names: ["from", "to"] })
      : { redirects: [], store: null };
  const redirects =
    evaluated === undefined
      ? written
      : withEvaluated(written, marker, redirectPairs(entryOf(redirectOptions(values), "redirects"), ["from", "to"]));
  const md: Dialect = { ...plainDialect, syntax: "mdx", idLevels: [2, 6], colons: true };
  const withoutLocale = (route: string): string | null => {
    const found = locales.find(({ locale }) => route === locale || route.startsWith(`${locale}/`));
    return found === undefined ? null : route.slice(found.locale.length + 1);
  };
  const folderOf = (path: string): DocsFolder | undefined => folders.find(({ dir }) => isDocument(path, dir));
  const code = [...context.files.keys()].filter((path) => isBelow(path, pages) && /\.[jt]sx?$/.test(path));
  const foreign = foreignPlugin(values);
  const computed = evaluated === undefined ? computedSetting(config, text) : null;
  const hasOtherPlugins = evaluated === undefined ? /\bplugins\s*:\s*\[[\s\S]*?\.\.\./.test(text) : foreign !== null;
  const codeRoutes = new Set(
    code.map((path) =>
      path
        .slice(pages.length + 1)
        .replace(/\.[jt]sx?$/, "")
        .replace(/(?:^|\/)index$/, ""),
    ),
  );
  // Versions are listed in a file, and a script may fetch their folders before the build.
  const isEmpty = new Set(
    folders.filter(
      ({ id, dir }) => !id.endsWith("@current") && ![...context.files.keys()].some((path) => isBelow(path, dir)),
    ),
  );
  const bases = folders.toSorted((a, b) => b.base.length - a.base.length);
  const isOfEmptyVersion = (route: string): boolean => {
    const own = isEmpty.size === 0 ? undefined : bases.find(({ base }) => isBelow(`/${route}/`, base));
    return own !== undefined && isEmpty.has(own);
  };
  const firstSegments = new Set([...folders, ...blogs].map(({ base }) => base.replace(/^\//, "").split("/")[0]));
  // Plugins configured in other files may serve any route below their own prefix.
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
        const { otherBase } = folder;
        const others = otherBase === undefined ? [] : [documentRoute({ ...folder, base: otherBase }, inside, fields)];
        if (folder.translation !== undefined) return [route];
        return [route, `#${folder.id}:${documentId(inside, fields)}`, ...others];
      }
      const blog = blogs.find(({ dir }) => isBelow(path, dir));
      if (blog !== undefined) return [blogRoute(path.slice(blog.dir.length + 1), fields, join(blog.locale, blog.base))];
      const home = pageFolders.find(({ dir }) => isBelow(path, dir));
      if (home === undefined) return [];
      return [join(home.locale, stripExtension(path.slice(home.dir.length + 1)).replace(/(?:^|\/)index$/, ""))];
    },
    publicDirs: [underDir(top, "static")],
    basePath: (stringOf(entryOf(configObject(values), "baseUrl")) ?? "").replace(/\/$/, ""),
    isBaseComputed: entryOf(configObject(values), "baseUrl")?.kind === "other",
    navigation: lists,
    computedEntries,
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
    unread: computed === null ? undefined : `\`${baseOf(marker)}\` computes \`${computed}\``,
    makers: foreign === null ? undefined : { what: foreign === "" ? "a plugin" : `the plugin \`${foreign}\`` },
    isGenerated(route) {
      const own = withoutLocale(route) ?? route;
      if (codeRoutes.has(own) || madeByBuild.test(own) || blogFronts.has(own)) return true;
      if (isOfEmptyVersion(own)) return "the folder of its version is not in the repository, so the build may make it";
      return isOfOtherPlugin(own)
        ? `a plugin ${evaluated === undefined ? "that another file configures " : ""}may serve it`
        : false;
    },
    searchDirs(path, isDotted) {
      const folder = folderOf(path);
      // A link that starts with a dot is relative to its own file only.
      if (folder?.translation === undefined) return isDotted ? [] : [folder?.dir ?? top, top];
      return isDotted ? [] : [folder.dir, folder.translation.of, top];
    },
    routeScope: (path) => locales.find(({ dir }) => isBelow(path, dir))?.locale ?? "",
    // Untranslated pages are served in the default language.
    fallbackRoute: withoutLocale,
    aliases: { "@site/": top },
    links: {
      markdown: "file",
      sources: "pages",
      rootMarkdown: true,
      relative: "address",
      tags: "address",
      html: "never",
      redirects: false,
      base: "either",
      slashes: "either",
    },
    homes: [
      ...folders.toSorted((a, b) => rank(a) - rank(b)).map(({ dir, base }) => ({ dir, route: base.slice(1) })),
      ...blogs.map(({ dir, locale, base }) => ({ dir, route: join(locale, base).slice(1) })),
      ...pageFolders.map(({ dir, locale }) => ({ dir, route: locale })),
    ],
    idFields: ["pagination_next", "pagination_prev"],
    idTarget: (path, id) => `#${folderOf(path)?.id.replace(/^.*\//, "") ?? ""}:${id}`,
    undecided(path) {
      const folder = folderOf(path);
      if (folder?.otherBase === undefined) return null;
      return `${marker} computes lastVersion: redirects are written for ${folder.base}; where this version is served at ${folder.otherBase}, correct them`;
    },
    translationsOf(path) {
      const home = folderOf(path);
      return folders
        .filter(({ translation }) => home !== undefined && translation?.of === home.dir)
        .map(({ dir }) => `${dir}/${path.slice((home?.dir.length ?? 0) + 1)}`);
    },
  };
}

/** Order: the current version, other versions, translations. */
function rank({ id, translation }: DocsFolder): number {
  return translation !== undefined ? 2 : id.endsWith("@current") ? 0 : 1;
}

function configObject(config: Literal): Literal | undefined {
  return [...walkLiteral(config)].find((node) => entryOf(node, "baseUrl") !== undefined);
}

interface OtherFolder {
  dir: string;
  locale: string;
  /** The route of its pages. */
  base: string;
}
