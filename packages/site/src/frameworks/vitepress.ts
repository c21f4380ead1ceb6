import { baseOf, dirOf, isBelow, joinPath, stripExtension } from "../links/target.ts";
import { entryOf, hasSpread, isComputed, type Literal, literalOf, stringOf, walkLiteral } from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { ComputedEntry, Framework, FrameworkContext, Label, Model, NavList } from "./framework.ts";
import { literalNav } from "./literal-nav.ts";
import { isDocument, type Languages, languageFolders, readLanguages } from "./pages.ts";

export const vitepress: Framework = {
  name: "vitepress",
  marker: /(?:^|\/)\.vitepress\/config(?:\/index)?\.(?:m?[jt]s|json)$/,
  load: loadVitepress,
};

/** The first string under a key, anywhere in a file. */
export function findText(root: Literal, key: string): string | null {
  for (const node of walkLiteral(root)) {
    const value = stringOf(entryOf(node, key));
    if (value !== null) return value;
  }
  return null;
}

/** The rewritten path of a page. Null if the pattern does not match. */
type Rewrite = (path: string) => string | null;

/** Supports patterns such as `packages/:name/docs/:page*`. */
function toRewrite(pattern: string, to: string): Rewrite {
  const names: string[] = [];
  const source = pattern
    .split(/(:\w+(?:\(\.[*+]\)|[*+])?)/)
    .map((piece) => {
      const name = /^:(\w+)/.exec(piece)?.[1];
      if (name === undefined) return piece.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
      names.push(name);
      return /[*+)]$/.test(piece) ? "(.+)" : "([^/]+)";
    })
    .join("");
  const expression = new RegExp(`^${source}$`);
  return (path) => {
    const found = expression.exec(path);
    if (found === null) return null;
    return to.replace(/:(\w+)(?:\(\.[*+]\)|[*+])?/g, (_whole, name) => found[names.indexOf(name) + 1] ?? "");
  };
}

/** A pattern such as `**\/drafts/**`. */
function toExpression(glob: string): RegExp {
  const source = glob
    .replace(/^\.?\//, "")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/|\*+|\?/g, (stars) =>
      stars === "**/" ? "(?:[^/]+/)*" : stars === "**" ? ".*" : stars === "?" ? "[^/]" : "[^/]*",
    );
  return new RegExp(`^${source}$`);
}

/** The files that pages include by a comment. */
async function readIncluded(context: FrameworkContext, root: string): Promise<Set<string>> {
  const included = new Set<string>();
  for (const path of context.files.keys()) {
    if (!isDocument(path, root)) continue;
    const text = (await context.readText(path)) ?? "";
    for (const [, file = ""] of text.matchAll(/<!--\s*@include:\s*([^\s{}>#]+?)(?=\s|[{#]|-->)/g))
      included.add(joinPath(file.startsWith("@/") ? root : dirOf(path), file.replace(/^@?\//, "")) ?? "");
    await context.breathe();
  }
  return included;
}

async function loadVitepress(context: FrameworkContext, marker: string): Promise<Model | null> {
  const top = marker.slice(0, marker.indexOf(".vitepress/")).replace(/\/$/, "");
  const folder = `${marker.slice(0, marker.indexOf(".vitepress/"))}.vitepress/`;
  const configs = [...context.files.keys()].filter(
    (path) => path.startsWith(folder) && /\.(?:m?[jt]s|json)$/.test(path) && !/\/(?:theme|cache|dist)\//.test(path),
  );
  const lists: NavList[] = [];
  const labels: Label[] = [];
  let base = "";
  let isBaseComputed = false;
  let srcDir = "";
  let unread: string | undefined;
  let hasSidebar = false;
  let isGrown = false;
  const computed: ComputedEntry[] = [];
  const excluded: string[] = [];
  const rewrites: Rewrite[] = [];
  let isRewriteComputed = false;
  let languages: Languages = { standard: "", others: [] };
  for (const file of configs) {
    const text = await context.readText(file);
    if (text === null) continue;
    const config = parseLiteral(text);
    const nav = literalNav(
      {
        file,
        text,
        targetKeys: ["link"],
        labelKeys: ["text"],
        listKeys: ["items", "nav", "sidebar", "children"],
        baseKey: "base",
        hasBareTexts: false,
        isForeign: (target) => /^[a-z]+:|^#/i.test(target),
        name: (target) => target,
        write: (target) => target,
      },
      config,
    );
    lists.push(...nav.lists);
    labels.push(...nav.labels);
    isGrown ||= nav.isGrown;
    computed.push(...nav.computed);
    hasSidebar ||= /\bsidebar\b/.test(text);
    if (file !== marker) continue;
    // Groups of the sidebar may have their own base.
    const values = context.evaluated === undefined ? config : literalOf(context.evaluated);
    const options =
      context.evaluated === undefined
        ? [...walkLiteral(config)].find((node) => entryOf(node, "themeConfig") !== undefined)
        : values;
    base = (
      stringOf(entryOf(options, "base")) ??
      (options === undefined ? findText(config, "base") : "") ??
      ""
    ).replace(/\/$/, "");
    isBaseComputed = entryOf(options, "base")?.kind === "other";
    srcDir = findText(values, "srcDir") ?? "";
    const nodes = context.evaluated === undefined ? [...walkLiteral(config)] : [];
    const open = ["srcDir", "extends"].find((name) => nodes.some((node) => isComputed(node, name, text)));
    if (open !== undefined) unread = `\`${baseOf(file)}\` computes \`${open}\``;
    else if (nodes.length > 0 && hasSpread(options, text)) unread = `\`${baseOf(file)}\` takes settings from elsewhere`;
    languages = readLanguages(values);
    const map = [...walkLiteral(values)].map((node) => entryOf(node, "rewrites")).find((one) => one !== undefined);
    isRewriteComputed = map !== undefined && map.kind !== "object";
    for (const { key, value } of map?.kind === "object" ? map.entries : [])
      rewrites.push(toRewrite(key, stringOf(value) ?? ""));
    for (const node of walkLiteral(values)) {
      const globs = entryOf(node, "srcExclude");
      if (globs?.kind === "array") excluded.push(...globs.items.map((item) => stringOf(item) ?? ""));
    }
  }
  const root = joinPath(top, srcDir) ?? top;
  const dialect: Dialect = {
    ...plainDialect,
    slug: "vitepress",
    headingIds: ["attributes"],
    colons: true,
    frontMatterLinks: true,
    includes: "vitepress",
  };
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const globs = excluded.map(toExpression);
  const isExcluded = (path: string): boolean => globs.some((glob) => glob.test(inRoot(path)));
  const included = globs.length === 0 ? new Set<string>() : await readIncluded(context, root);
  const placeOf = (path: string): string =>
    rewrites.map((rewrite) => rewrite(inRoot(path))).find((place) => place !== null) ?? inRoot(path);
  // `[name].md` is a page for each name that its `.paths` file gives.
  const dynamic = [...context.files.keys()]
    .filter((path) => isDocument(path, root) && /\[[^\]/]+\]/.test(inRoot(path)))
    .map((path) => toExpression(stripExtension(placeOf(path)).replace(/\[[^\]/]+\]/g, "*")));
  // A language without its own sidebar uses the default one.
  const unlistedLanguages = languages.others.filter(
    (locale) => !lists.some(({ items }) => items.some(({ target }) => target?.startsWith(`/${locale}/`) === true)),
  );
  return {
    framework: "vitepress",
    root,
    configFiles: configs,
    role: (path) =>
      !isDocument(path, root)
        ? null
        : isExcluded(path)
          ? // Excluded from the pages, but pages may include it.
            included.has(path)
            ? "partial"
            : null
          : /(?:^|\/)(?:parts?|partials?|_[^/]*)\//.test(inRoot(path))
            ? "partial"
            : "page",
    dialect: () => dialect,
    routes: (path) => [
      `/${placeOf(path)
        .replace(/\.md$/, "")
        .replace(/(^|\/)index$/, "$1")}`,
    ],
    publicDirs: [root === "" ? "public" : `${root}/public`],
    basePath: base,
    isBaseComputed,
    navigation: lists,
    computedEntries: computed,
    labels,
    listsPages: hasSidebar && !isGrown && lists.some((list) => list.trail.length > 0),
    isUnlisted: (path, fields) =>
      fields.layout !== undefined ||
      dirOf(inRoot(path)) === "" ||
      fields.sidebar === false ||
      unlistedLanguages.some((locale) => isBelow(inRoot(path), locale)),
    navRoute: (target) => ({ route: target }),
    navTarget: (_path, route) => route,
    redirects: [],
    redirectStore: null,
    redirectTarget: (_path, route) => route,
    aliases: { "@/": root },
    unread,
    isGenerated: (route) => isRewriteComputed || dynamic.some((pattern) => pattern.test(route)),
    checksAbsolute: true,
    links: {
      // Links of a page are relative to its rewritten path.
      ...(rewrites.length === 0
        ? { markdown: "file", relative: "file" }
        : { markdown: "address", relative: "address" }),
      sources: "pages and partials",
      rootMarkdown: true,
      tags: "href address",
      html: "pages",
      redirects: true,
      base: "added",
      slashes: "exact",
    },
    ...languageFolders(root, languages),
  };
}
