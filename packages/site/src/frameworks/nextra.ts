import { baseOf, dirOf, isBelow, stripExtension, underDir } from "../links/target.ts";
import {
  entryOf,
  insertMember,
  literalOf,
  type ObjectLiteral,
  quoteLike,
  removeMembers,
  stringOf,
  walkLiteral,
} from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { encodePiece, indexLines } from "../text/bytes.ts";
import type { Framework, FrameworkContext, Label, Model, NavItem, NavList } from "./framework.ts";
import { isDocument, languageFolders, readLanguages } from "./pages.ts";
import { arrayRedirects, redirectPairs, withEvaluated } from "./redirects.ts";

export const nextra: Framework = {
  name: "nextra",
  marker: /(?:^|\/)next\.config\.(?:[mc]?[jt]s)$/,
  confirm: (text) => /\bnextra\b/.test(text),
  load: loadNextra,
};

const plainKey = /^[A-Za-z_$][\w$]*$/;
const metaFile = /(?:^|\/)_meta(?:\.[a-z]{2}(?:-[A-Z]{2})?)?\.(?:[jt]sx?|json)$/;
const globalMetaFile = /(?:^|\/)_meta\.global\.[jt]sx?$/;

async function loadNextra(context: FrameworkContext, marker: string): Promise<Model | null> {
  const top = dirOf(marker);
  const dirs = ["content", "src/content", "pages", "src/pages", "app", "src/app"].map((dir) => underDir(top, dir));
  const paths = [...context.files.keys()];
  const roots = dirs.filter((dir) => paths.some((path) => isDocument(path, dir)));
  const [root] = roots;
  if (root === undefined) return null;
  const rootOf = (path: string): string | undefined => roots.find((dir) => isDocument(path, dir));
  const lists: NavList[] = [];
  const labels: Label[] = [];
  const metas = paths.filter(
    (path) => (metaFile.test(path) || globalMetaFile.test(path)) && dirs.some((dir) => isBelow(path, dir)),
  );
  for (const file of metas) {
    const text = await context.readText(file);
    // The global file is in the app folder. Its keys are those of the pages' folder.
    const folder = globalMetaFile.test(file) ? root : dirOf(file);
    const map = text === null ? undefined : firstObject(text);
    if (text !== null && map !== undefined) lists.push(...readMeta({ context, file, text, labels }, map, folder));
  }
  const text = (await context.readText(marker)) ?? "";
  const config = parseLiteral(text);
  // Every address then ends with a slash, and relative links start below it.
  const { evaluated } = context;
  const values = evaluated === undefined ? config : literalOf(evaluated);
  const hasSlashes =
    evaluated === undefined ? /\btrailingSlash\s*:\s*true\b/.test(text) : evaluated.trailingSlash === true;
  // The application serves the folder `content` by one route.
  const catchAll = findCatchAll(paths, top);
  const setBase = [...walkLiteral(config)].map((node) => entryOf(node, "contentDirBasePath")).find((one) => one);
  const prefix = (stringOf(setBase) ?? catchAll?.base ?? "").replace(/^\/|\/$/g, "");
  const unread =
    (setBase !== undefined && stringOf(setBase) === null) || prefix.includes("[")
      ? `\`${baseOf(setBase === undefined ? (catchAll?.file ?? marker) : marker)}\` computes the address of the pages`
      : undefined;
  const languages = readLanguages(values);
  const locales = [languages.standard, ...languages.others].filter((locale) => locale !== "");
  // `redirects()` returns a list: the first array that looks like one. Those of `rewrites()` have no status.
  const list = [...walkLiteral(config)].find(
    (node) =>
      node.kind === "array" &&
      entryOf(node.items[0], "destination") !== undefined &&
      ["permanent", "statusCode"].some((name) => entryOf(node.items[0], name) !== undefined),
  );
  const written = arrayRedirects({
    file: marker,
    text,
    root: { kind: "object", start: 0, end: 0, entries: [], children: [] },
    key: "redirects",
    ...(list === undefined ? {} : { list }),
    names: ["source", "destination"],
    // Next.js requires it.
    rest: "permanent: true",
  });
  const computed =
    evaluated === undefined ? [] : redirectPairs(entryOf(values, "redirects"), ["source", "destination"]);
  const redirects = withEvaluated(written, marker, computed);
  const dialect: Dialect = { ...plainDialect, syntax: "mdx", headingIds: ["brackets"], idLevels: [2, 6] };
  return {
    framework: "nextra",
    root,
    configFiles: [marker, ...metas],
    role(path) {
      const own = rootOf(path);
      if (own === undefined) return null;
      if (/(?:^|\/)_/.test(path.slice(own.length + 1))) return "partial";
      // In the app folder, only files with this name are pages.
      return /(?:^|\/)app$/.test(own) && !/(?:^|\/)page\.mdx?$/.test(path) ? "partial" : "page";
    },
    dialect: () => dialect,
    routes(path) {
      const own = rootOf(path) ?? root;
      const isApp = /(?:^|\/)app$/.test(own);
      const stem = stripExtension(path.slice(own.length + 1));
      // Only the app folder supports route groups.
      const inside = isApp ? stem.replace(/(?:^|\/)\([^)]+\)(?=\/)/g, "") : stem;
      const base = /(?:^|\/)content$/.test(own) ? prefix : "";
      const name = inside.replace(isApp ? /(?:^|\/)page$/ : /(?:^|\/)index$/, "");
      const route = `/${[base, name].filter((part) => part !== "").join("/")}`.replace(/^\/\//, "/");
      return [hasSlashes && route !== "/" ? `${route}/` : route];
    },
    publicDirs: [underDir(top, "public")],
    basePath: "",
    navigation: lists,
    labels,
    listsPages: false,
    navRoute: (target) => ({ path: target }),
    navTarget: (path) => stripExtension(path.slice(dirOf(path).length).replace(/^\//, "")),
    redirects: redirects.redirects,
    redirectStore: list === undefined ? null : redirects.store,
    redirectTarget: (_path, route) => route,
    checksAbsolute: true,
    unread,
    isGenerated: (route) =>
      paths.some(
        (path) =>
          path !== catchAll?.file &&
          dirs.some((dir) => isBelow(path, dir) && servesRoute(path.slice(dir.length + 1), route)),
      ),
    links: {
      markdown: "address",
      rootMarkdown: true,
      relative: "address",
      tags: "address",
      html: "never",
      redirects: true,
      base: "added",
      slashes: "either",
    },
    sharesRedirects: true,
    // Nextra's middleware adds the language to a URL without one.
    routeScope: (path) => locales.find((locale) => isBelow(path, underDir(root, locale))) ?? "",
    ...languageFolders(root, languages),
  };
}

/** `app/docs/[[...mdxPath]]/page.jsx` serves the pages below `/docs`. The language is a parameter. */
function findCatchAll(paths: readonly string[], top: string): { file: string; base: string } | undefined {
  for (const file of paths) {
    const inside = top === "" ? file : isBelow(file, top) ? file.slice(top.length + 1) : "";
    const found = /^(?:src\/)?app\/(?:\[\w+\]\/)?((?:[^/]+\/)*)\[\[?\.\.\.mdxPath\]\]?\/page\.[jt]sx?$/.exec(inside);
    if (found !== null) return { file, base: (found[1] ?? "").replace(/\([^)]+\)\//g, "").replace(/\/$/, "") };
  }
  return undefined;
}

/** Pages written as code, and folders with route parameters. */
function servesRoute(path: string, route: string): boolean {
  if (!/\.[jt]sx?$/.test(path)) return false;
  const source = stripExtension(path.replace(/\.[jt]sx?$/, ""))
    .replace(/\([^)/]+\)\//g, "")
    .replace(/(?:^|\/)(?:page|index|route)$/, "");
  if (!/\[/.test(source)) return source === route;
  const fixed = source.slice(0, source.indexOf("[")).replace(/\/$/, "");
  return fixed !== "" && isBelow(route, fixed);
}

function firstObject(text: string): ObjectLiteral | undefined {
  return [...walkLiteral(parseLiteral(text))].find((node): node is ObjectLiteral => node.kind === "object");
}

interface MetaSource {
  context: FrameworkContext;
  file: string;
  text: string;
  labels: Label[];
}

/** The list of a folder, and those of nested folders that the same file describes. */
function readMeta(source: MetaSource, map: ObjectLiteral, folder: string): NavList[] {
  const { context, file, text, labels } = source;
  const lines = indexLines(text);
  const inner: NavList[] = [];
  const items = map.entries.map(({ key, keyStart, value }): NavItem => {
    const label = value.kind === "string" ? value : entryOf(value, "title");
    if (label?.kind === "string") labels.push({ file, start: label.start + 1, end: label.end - 1 });
    const nested = stringOf(entryOf(value, "type")) === "menu" ? undefined : entryOf(value, "items");
    const type = stringOf(entryOf(value, "type"));
    const isOther =
      entryOf(value, "href") !== undefined ||
      entryOf(value, "route") !== undefined ||
      (type !== null && type !== "page") ||
      value.kind === "other";
    const stem = underDir(folder, key);
    if (nested?.kind === "object") inner.push(...readMeta(source, nested, stem));
    const path = [".mdx", ".md", "/index.mdx", "/index.md", "/page.mdx"]
      .map((end) => `${stem}${end}`)
      .find((one) => context.files.has(one));
    return {
      start: keyStart,
      end: value.end,
      ...lines.place(keyStart),
      target: path ?? stem,
      // Includes the quotes, because the new key may need them or not.
      targetStart: keyStart,
      targetEnd: keyStart + encodePiece(key).length + (/["']/.test(text.charAt(keyStart)) ? 2 : 0),
      label: stringOf(label),
      // A folder needs no page of its own, and code may generate one.
      isForeign: isOther || key === "*" || (path === undefined && hasFolderOrCode(context, folder, key)),
      source: text.slice(value.start, value.end),
      ...(path === undefined || dirOf(path) === stem ? { folder: { path: stem, below: folder } } : {}),
    };
  });
  const quotesAll = map.entries.some(({ key, keyStart }) => plainKey.test(key) && /["']/.test(text.charAt(keyStart)));
  const sampleText = map.entries.find(({ value }) => value.kind === "string")?.value;
  const writeKey = (name: string): string =>
    plainKey.test(name) && !quotesAll ? name : quoteLike(text, file.endsWith(".json") ? undefined : sampleText, name);
  const list: NavList = {
    file,
    folder,
    written: writeKey,
    text,
    trail: [folder.slice(folder.lastIndexOf("/") + 1)],
    items,
    remove: (index) => removeMembers(map, new Set([index])),
    insert(into, index, target, title, value = encodePiece(quoteLike(into, sampleText, title))) {
      return insertMember(into, map, index, `${encodePiece(writeKey(target))}: ${value}`);
    },
  };
  return [list, ...inner];
}

function hasFolderOrCode(context: FrameworkContext, folder: string, key: string): boolean {
  const stem = underDir(folder, key);
  for (const path of context.files.keys()) {
    if (path.startsWith(`${stem}/`) || /^\.[jt]sx?$/.test(path.startsWith(stem) ? path.slice(stem.length) : ""))
      return true;
  }
  return false;
}
