import { slug } from "github-slugger";
import { baseOf, dirOf, isBelow, joinPath, stripExtension, underDir } from "../links/target.ts";
import {
  entryOf,
  hasSpread,
  isComputed,
  literalOf,
  type ObjectLiteral,
  stringOf,
  walkLiteral,
} from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { ComputedEntry, Framework, FrameworkContext, Label, Model, NavList } from "./framework.ts";
import { literalNav } from "./literal-nav.ts";
import { isDocument, type Languages, languageFolders, readLanguages } from "./pages.ts";
import { objectRedirects, withEvaluated } from "./redirects.ts";
import { findText } from "./vitepress.ts";

export const starlight: Framework = {
  name: "starlight",
  marker: /(?:^|\/)astro\.config\.(?:m?[jt]s)$/,
  confirm: (text) => /\bstarlight\b/.test(text),
  load: loadStarlight,
};

async function loadStarlight(context: FrameworkContext, marker: string): Promise<Model | null> {
  const top = dirOf(marker);
  const root = underDir(top, "src/content/docs");
  const lists: NavList[] = [];
  const labels: Label[] = [];
  let isGrown = false;
  const computed: ComputedEntry[] = [];
  const text = (await context.readText(marker)) ?? "";
  const config = parseLiteral(text);
  const values = context.evaluated === undefined ? config : literalOf(context.evaluated);
  const nodes = context.evaluated === undefined ? [...walkLiteral(config)] : [];
  const isLocaleOpen = nodes.some((node) => isComputed(node, "locales", text));
  const { standard, others } = isLocaleOpen
    ? languagesByFolder(context, root, findText(config, "defaultLocale"))
    : readLanguages(values);
  const loader = await ownLoader(context, top);
  const hasPlugins = [...walkLiteral(values)].some((node) => entryOf(node, "plugins") !== undefined);
  // Sidebars name pages without a language.
  const sidebarRoot = standard === "" ? root : underDir(root, standard);
  const isTranslation = (path: string): boolean => others.some((locale) => isBelow(path, underDir(root, locale)));
  const texts = new Map<string, string>();
  for (const file of [marker, underDir(top, "astro.sidebar.ts"), underDir(top, "astro.sidebar.mjs")]) {
    const text = await context.readText(file);
    if (text === null) continue;
    texts.set(file, text);
    const nav = literalNav(
      {
        file,
        text,
        targetKeys: ["slug", "link"],
        labelKeys: ["label", "text"],
        listKeys: ["items", "sidebar"],
        hasBareTexts: "if used",
        isForeign: (target) => /^[a-z]+:|^#/i.test(target),
        name: (target) =>
          standard === "" || /^[a-z]+:|^#/i.test(target) ? target : `/${standard}/${target.replace(/^\//, "")}`,
        write(target, key) {
          const own = isBelow(target, `/${standard}`) ? target.slice(standard.length + 1) : target;
          return key === "link" ? own : own.replace(/^\/|\/$/g, "");
        },
        folder(item) {
          const name = entryOf(entryOf(item, "autogenerate"), "directory");
          if (name?.kind !== "string") return null;
          const inside = name.value.replace(/^\/|\/$/g, "");
          return { path: joinPath(sidebarRoot, inside) ?? sidebarRoot, below: sidebarRoot, name };
        },
      },
      sidebarOf(text),
    );
    lists.push(...nav.lists);
    labels.push(...nav.labels);
    isGrown ||= nav.isGrown || /autogenerate/.test(text);
    computed.push(...nav.computed);
  }
  const options = [...walkLiteral(config)].find(
    (node): node is ObjectLiteral => node.kind === "object" && entryOf(node, "integrations") !== undefined,
  );
  const known = context.evaluated === undefined ? options : values;
  const map = entryOf(known, "redirects");
  const redirects = withEvaluated(
    objectRedirects({ file: marker, text, root: options ?? config, key: "redirects" }),
    marker,
    (map?.kind === "object" ? map.entries : []).flatMap(({ key: from, value }) => {
      const to = stringOf(value) ?? stringOf(entryOf(value, "destination"));
      return to === null ? [] : [{ from, to }];
    }),
  );
  // Set directly, or as an option of the Markdown processor.
  const smart = [...walkLiteral(entryOf(known, "markdown") ?? parseLiteral(""))]
    .map((node) => entryOf(node, "smartypants") ?? entryOf(node, "smartPunctuation"))
    .find((one) => one !== undefined);
  const punctuation =
    smart === undefined
      ? ""
      : ((smart.kind === "other" ? smart.value : undefined) ?? text.slice(smart.start, smart.end));
  const isPlain = punctuation.toString() === "false";
  const ownIds = smart !== undefined && !/^(?:true|false)$/.test(punctuation.toString());
  const slugRule = isPlain ? "github" : "astro";
  const dialect: Dialect = { ...plainDialect, slug: slugRule, headingIds: [], colons: true, frontMatterLinks: true };
  const mdx: Dialect = { ...dialect, syntax: "mdx" };
  const served = [...context.files.keys()].filter((path) => isBelow(path, underDir(top, "src/pages")));
  const inRoot = (path: string): string => path.slice(root.length + 1);
  // A key of that name deeper down belongs to an integration.
  const base = known === undefined ? findText(config, "base") : stringOf(entryOf(known, "base"));
  const basePath = (base ?? "").replace(/\/$/, "");
  const fallbackRoute = createFallback(context, root, others, findText(values, "defaultLocale"));
  return {
    framework: "starlight",
    root,
    configFiles: [...texts.keys()],
    role: (path) => (isDocument(path, root) ? (/(?:^|\/)_[^/]*$/.test(path) ? "partial" : "page") : null),
    dialect: (path) => (path.endsWith(".mdx") ? mdx : dialect),
    routes(path, fields) {
      const own = typeof fields.slug === "string" ? fields.slug : null;
      const parts = stripExtension(inRoot(path))
        .split("/")
        .map((part) => slug(part));
      return [`/${own ?? parts.join("/").replace(/(?:^|\/)index$/, "")}/`.replace("//", "/")];
    },
    publicDirs: [underDir(top, "public")],
    basePath,
    isBaseComputed: basePath === "" && entryOf(known, "base") !== undefined && base === null,
    navigation: lists,
    computedEntries: computed,
    labels,
    listsPages: lists.length > 0 && !isGrown,
    isUnlisted: (path, fields) =>
      fields.template === "splash" || isTranslation(path) || /(?:^|\/)(?:index|404)\.mdx?$/.test(inRoot(path)),
    navRoute: (target) => ({ route: target }),
    navTarget: (_path, route) => route,
    redirects: redirects.redirects,
    redirectStore: redirects.store,
    redirectSource: (_path, route) => route.replace(/(.)\/$/, "$1"),
    // Astro adds the base path only to the source.
    redirectTarget: (_path, route) => basePath + route.replace(/(.)\/$/, "$1"),
    checksAbsolute: true,
    unread: isLocaleOpen
      ? `\`${baseOf(marker)}\` takes \`locales\` from code that is not read`
      : known !== values && hasSpread(options, text)
        ? `\`${baseOf(marker)}\` takes settings from elsewhere`
        : loader,
    ...(ownIds ? { makesIds: `the punctuation that \`${baseOf(marker)}\` sets` } : {}),
    makers: hasPlugins ? { what: `a plugin of \`${baseOf(marker)}\`` } : undefined,
    isGenerated: (route) =>
      served.some((path) => matchesPage(route, path.slice(underDir(top, "src/pages").length + 1))),
    links: {
      markdown: "never",
      rootMarkdown: false,
      relative: "address",
      html: "indexes",
      redirects: true,
      base: "written",
      slashes: "either",
    },
    fallbackRoute,
    ...languageFolders(root, { standard, others }),
  };
}

/** The file that gives the pages another loader than Starlight's. */
async function ownLoader(context: FrameworkContext, top: string): Promise<string | undefined> {
  for (const name of ["src/content.config.ts", "src/content.config.mjs", "src/content/config.ts"]) {
    const text = (await context.readText(underDir(top, name))) ?? "";
    if (/\bloader\b/.test(text) && !/\bdocsLoader\(\s*\)/.test(text)) return `\`${name}\` sets a loader for the pages`;
  }
  return undefined;
}

/** Languages that the configuration does not show: folders of the pages with such a name. */
function languagesByFolder(context: FrameworkContext, root: string, named: string | null): Languages {
  const folders = new Set<string>();
  for (const path of context.files.keys()) {
    const [first = "", ...rest] = isDocument(path, root) ? path.slice(root.length + 1).split("/") : [];
    if (rest.length > 0 && (first === named || localeName.test(first))) folders.add(first);
  }
  const standard = named !== null && folders.has(named) ? named : "";
  return { standard, others: [...folders].filter((folder) => folder !== standard) };
}

const localeName = /^[a-z]{2}(?:-[a-z]{2,4})?$/;

/** An untranslated page is served in the default language. */
function createFallback(
  context: FrameworkContext,
  root: string,
  declared: readonly string[],
  named: string | null,
): (key: string) => string | null {
  const locales = new Set<string>(declared);
  for (const path of context.files.keys()) {
    const [first = "", ...rest] = isBelow(path, root) ? path.slice(root.length + 1).split("/") : [];
    if (rest.length > 0 && localeName.test(first)) locales.add(first);
  }
  const usual = named !== null && locales.has(named) ? named : locales.has("en") ? "en" : null;
  return (key) => {
    const [first = "", ...rest] = key.split("/");
    if (!locales.has(first) || first === usual) return null;
    return [usual, ...rest].filter((part) => part !== null).join("/");
  };
}

/** Only lists under `sidebar` are navigation: the configuration has other lists of links. */
function sidebarOf(text: string) {
  const config = parseLiteral(text);
  for (const node of walkLiteral(config)) {
    const sidebar = entryOf(node, "sidebar");
    if (sidebar !== undefined) return sidebar;
  }
  return /starlight\s*\(/.test(text) ? parseLiteral("") : config;
}

/** `blog/[slug].astro` serves `blog/anything`. */
function matchesPage(route: string, file: string): boolean {
  // More than two parameters would make matching slow.
  if (file.split("[").length > 3) return false;
  const source = file
    .replace(/\.\w+$/, "")
    .replace(/\.(?:xml|json|txt|html)$/, "")
    .replace(/(?:^|\/)index$/, "")
    .replace(/[.+?^$|\\]/g, "\\$&")
    .replace(/\[\\\.\\\.\\\.[^\]]+\]/g, ".*")
    .replace(/\[[^\]]+\]/g, "[^/]+");
  return source !== ".*" && new RegExp(`^${source}(?:\\.\\w+)?$`).test(route);
}
