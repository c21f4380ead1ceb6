import { dirOf, isBelow, joinPath, pageExtension, stripExtension, underDir } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Label, Model, NavItem, NavList, RedirectPair } from "./framework.ts";
import { isDocument } from "./pages.ts";
import { mapRedirects, withEvaluated } from "./redirects.ts";
import {
  insertLines,
  rangeOf,
  readYamlSource,
  textRange,
  type YamlSource,
  yamlGet,
  yamlItems,
  yamlPairs,
  yamlScalar,
  yamlText,
} from "./yaml-source.ts";

export const mkdocs: Framework = {
  name: "mkdocs",
  marker: /(?:^|\/)mkdocs\.ya?ml$/,
  load: loadMkdocs,
};

/** Plugins of MkDocs and its usual theme that make no pages, and those whose pages are read here. */
const knownPlugin =
  /^(?:material\/)?(?:search|redirects|blog|tags|social|meta|offline|optimize|privacy|typeset|group|info)$|^(?:autorefs|awesome-(?:pages|nav)|git-[\w-]+|literate-nav|macros|minify|mkdocstrings|section-index)$/;

/** Names of the plugins. */
function pluginNames(root: unknown): string[] {
  const list = yamlGet(root, "plugins");
  const pairs = [...yamlPairs(list), ...yamlItems(list).flatMap((item) => yamlPairs(item))];
  return [...yamlItems(list).map((item) => yamlText(item)), ...pairs.map(({ key }) => yamlText(key))].flatMap(
    (name) => name ?? [],
  );
}

const navPlugins = ["awesome-pages", "awesome-nav", "literate-nav", "section-index", "gen-files", "monorepo"];

/** The search path of the snippets extension. */
function includeDirs(option: unknown): string[] {
  const one = yamlText(option);
  const listed = yamlItems(option).flatMap((item) => yamlText(item) ?? []);
  return one !== null ? [one] : listed.length > 0 ? listed : ["."];
}

/** The options of a plugin or an extension. {} if it is only named, null if absent. */
function plugin(root: unknown, name: string, key = "plugins"): unknown {
  for (const item of yamlItems(yamlGet(root, key))) {
    if (yamlText(item) === name) return {};
    const pair = yamlPairs(item).find(({ key }) => yamlText(key) === name);
    if (pair !== undefined) return pair.value ?? {};
  }
  const pair = yamlPairs(yamlGet(root, key)).find(({ key }) => yamlText(key) === name);
  return pair === undefined ? null : (pair.value ?? {});
}

async function loadMkdocs(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = await context.readText(marker);
  if (text === null) return null;
  const source = readYamlSource(text);
  const known = readKnown(context.evaluated);
  const root = joinPath(dirOf(marker), known?.docsDir ?? yamlText(yamlGet(source.root, "docs_dir")) ?? "docs");
  if (root === null) return null;
  const lists: NavList[] = [];
  const labels: Label[] = [];
  // A folder that the environment decides.
  if (
    known === null &&
    yamlGet(source.root, "docs_dir") !== null &&
    yamlText(yamlGet(source.root, "docs_dir")) === null
  )
    return null;
  const maker = pluginNames(source.root).find((name) => !knownPlugin.test(name));
  const makesPages = yamlGet(source.root, "hooks") !== null || plugin(source.root, "gen-files") !== null;
  const isMade = (target: string): boolean =>
    known === null ? makesPages && !context.files.has(joinPath(root, target) ?? "") : known.made.has(target);
  collectNav(yamlGet(source.root, "nav"), [], { file: marker, text, source, lists, labels, isMade });
  const address = addressOf(known === null ? yamlText(yamlGet(source.root, "site_url")) : known.siteUrl);
  const validation = yamlGet(source.root, "validation");
  const absoluteLinks = yamlText(
    yamlGet(yamlGet(validation, "links"), "absolute_links") ?? yamlGet(validation, "absolute_links"),
  );
  const isFlat = known?.isFlat ?? yamlText(yamlGet(source.root, "use_directory_urls")) === "false";
  const redirects = withEvaluated(
    mapRedirects(marker, text, source, yamlGet(plugin(source.root, "redirects"), "redirect_maps")),
    marker,
    known?.redirects ?? [],
  );
  const blog = plugin(source.root, "blog") ?? plugin(source.root, "material/blog");
  const blogDir = blog === null ? null : (yamlText(yamlGet(blog, "blog_dir")) ?? "blog");
  const isGrown = navPlugins.some((name) => plugin(source.root, name) !== null);
  const snippets = plugin(source.root, "pymdownx.snippets", "markdown_extensions");
  const dialect: Dialect = {
    ...plainDialect,
    slug: "python",
    headingIds: ["attributes"],
    admonitions: true,
    ...(snippets === null ? {} : { includes: "snippets" }),
  };
  const custom = yamlText(yamlGet(yamlGet(source.root, "theme"), "custom_dir"));
  const customDir = custom === null ? null : joinPath(dirOf(marker), custom);
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  return {
    framework: "mkdocs",
    root,
    configFiles: [marker],
    // Files that the build leaves out may be included by pages.
    role: (path) => (!isDocument(path, root) ? null : known?.pages.has(inRoot(path)) === false ? "partial" : "page"),
    dialect: () => dialect,
    routes(path) {
      const route = stripExtension(inRoot(path)).replace(/(^|\/)(?:index|README)$/, "$1");
      return [`/${route}${isFlat || route === "" || route.endsWith("/") ? "" : "/"}`];
    },
    publicDirs: [root, ...(customDir === null ? [] : [customDir])],
    makers:
      known !== null
        ? undefined
        : makesPages
          ? { what: "a script of the project", isAnywhere: true }
          : maker === undefined
            ? undefined
            : { what: `the plugin \`${maker}\`` },
    isGenerated: (route) => known?.made.has(route) === true || known?.madeRoutes.has(route) === true,
    basePath: address ?? "",
    navigation: lists,
    labels,
    listsPages: lists.length > 0 && !isGrown,
    isUnlisted: (path, fields) =>
      (blogDir !== null && isBelow(inRoot(path), blogDir)) ||
      inRoot(path) === "index.md" ||
      fields.hide !== undefined ||
      fields.template !== undefined,
    navRoute: (target) => ({ path: underDir(root, target.replace(/^\.?\//, "")) }),
    navTarget: inRoot,
    redirects: redirects.redirects,
    redirectStore: redirects.store,
    redirectTarget: (path, route) =>
      path === null ? `${stripExtension(route.replace(/^\/|\/$/g, ""))}.md` : inRoot(path),
    // Without a site URL, the base path is unknown.
    checksAbsolute: address === null ? "if usual" : true,
    includeDirs: includeDirs(yamlGet(snippets, "base_path")).map((dir) => joinPath(dirOf(marker), `${dir}/`) ?? dir),
    links: {
      markdown: "file",
      sources: "pages and partials",
      rootMarkdown: absoluteLinks === "relative_to_docs",
      relative: "address",
      tags: "address",
      html: isFlat ? "pages" : "indexes",
      redirects: true,
      base: "written",
      slashes: "either",
    },
  };
}

/** What MkDocs knows with its plugins, hooks and theme. */
interface Known {
  docsDir: string;
  siteUrl: string | null;
  isFlat: boolean;
  /** The pages of the site, and the files that are not in the folder of the docs, by their paths in it. */
  pages: ReadonlySet<string>;
  made: ReadonlySet<string>;
  /** The addresses of pages among them. */
  madeRoutes: ReadonlySet<string>;
  redirects: readonly RedirectPair[];
}

function readKnown(values: FrameworkContext["evaluated"]): Known | null {
  if (values === undefined) return null;
  const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter((one) => typeof one === "string") : []);
  const made = texts(values.made);
  return {
    docsDir: typeof values.docs_dir === "string" ? values.docs_dir : "docs",
    siteUrl: typeof values.site_url === "string" ? values.site_url : null,
    isFlat: values.use_directory_urls === false,
    pages: new Set(texts(values.pages)),
    made: new Set(made),
    madeRoutes: new Set(
      made
        .filter((path) => pageExtension.test(path))
        .map((path) => stripExtension(path).replace(/(?:^|\/)(?:index|README)$/, "")),
    ),
    redirects: Object.entries(values.redirects ?? {}).map(([from, to]) => ({ from, to: String(to) })),
  };
}

/** The path of the site's URL, without trailing slash. Null if there is no URL. */
function addressOf(url: string | null): string | null {
  return url === null || !URL.canParse(url) ? null : new URL(url).pathname.replace(/\/$/, "");
}

interface Collected {
  file: string;
  text: string;
  source: YamlSource;
  lists: NavList[];
  labels: Label[];
  /** Whether the project's code may generate a page without a file. */
  isMade(target: string): boolean;
}

function collectNav(seq: unknown, trail: readonly string[], into: Collected): void {
  const nodes = yamlItems(seq);
  if (nodes.length === 0) return;
  const items: NavItem[] = [];
  for (const node of nodes) {
    const range = rangeOf(node);
    if (range === null) continue;
    const [pair] = yamlPairs(node);
    const value = pair === undefined ? node : pair.value;
    const target = yamlText(value);
    const targetRange = textRange(into.text, value) ?? range;
    const label = pair === undefined ? null : yamlText(pair.key);
    const labelRange = pair === undefined ? null : textRange(into.text, pair.key);
    if (labelRange !== null) into.labels.push({ file: into.file, start: labelRange[0], end: labelRange[1] });
    items.push({
      start: range[0],
      end: range[1],
      ...into.source.place(range[0]),
      target,
      targetStart: targetRange[0],
      targetEnd: targetRange[1],
      label,
      isForeign:
        target !== null && (/^[a-z]+:\/\/|^[/!]/i.test(target) || /[*]|\/$/.test(target) || into.isMade(target)),
    });
    if (target === null && pair !== undefined) collectNav(value, [...trail, label ?? ""], into);
  }
  into.lists.push({
    file: into.file,
    trail,
    items,
    insert: (text, index, target, title) => insertItem(text, items, index, target, title),
  });
}

function insertItem(text: string, items: readonly NavItem[], index: number, target: string, title: string) {
  const isTitled = items.some(({ label, target: other }) => label !== null && other !== null);
  const line = isTitled ? `- ${yamlScalar(title)}: ${yamlScalar(target)}` : `- ${yamlScalar(target)}`;
  const before = items[index - 1];
  const first = items[0] as NavItem;
  if (before !== undefined) return insertLines(text, before.end, before.start, [line]);
  const lineStart = text.lastIndexOf("\n", first.start - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? "";
  return { start: lineStart, end: lineStart, text: `${indent}${line}\n` };
}
