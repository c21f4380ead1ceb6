import { dirOf, isBelow, stripExtension, underDir } from "../links/route.ts";
import { insertMember, quoteLike, removeMembers } from "../literal/edit-literal.ts";
import { entryOf, type ObjectLiteral, stringOf, walkLiteral } from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { encodePiece } from "../text/bytes.ts";
import { indexLines } from "../text/line-index.ts";
import type { Framework, FrameworkContext, Label, Model, NavItem, NavList } from "./framework.ts";
import { arrayRedirects } from "./literal-redirects.ts";
import { isDocument } from "./pages.ts";

export const nextra: Framework = {
  name: "nextra",
  marker: /(?:^|\/)next\.config\.(?:[mc]?[jt]s)$/,
  confirm: (text) => /\bnextra\b/.test(text),
  load: loadNextra,
};

const plainKey = /^[A-Za-z_$][\w$]*$/;
const metaFile = /(?:^|\/)_meta(?:\.[a-z]{2}(?:-[A-Z]{2})?)?\.(?:[jt]sx?|json)$/;

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
  const metas = paths.filter((path) => metaFile.test(path) && roots.some((dir) => isBelow(path, dir)));
  for (const file of metas) {
    const text = await context.readText(file);
    const list = text === null ? null : readMeta(context, file, text, labels);
    if (list !== null) lists.push(list);
  }
  const text = (await context.readText(marker)) ?? "";
  // `redirects()` answers a list: the first that looks like one.
  const list = [...walkLiteral(parseLiteral(text))].find(
    (node) => node.kind === "array" && entryOf(node.items[0], "destination") !== undefined,
  );
  const redirects = arrayRedirects({
    file: marker,
    text,
    root: { kind: "object", start: 0, end: 0, entries: [], children: [] },
    key: "redirects",
    ...(list === undefined ? {} : { list }),
    names: ["source", "destination"],
  });
  const dialect: Dialect = { ...plainDialect, syntax: "mdx" };
  return {
    framework: "nextra",
    root,
    configFiles: [marker, ...metas],
    role(path) {
      const own = rootOf(path);
      if (own === undefined) return null;
      if (/(?:^|\/)_/.test(path.slice(own.length + 1))) return "partial";
      // In the app folder only files of this name are pages.
      return /(?:^|\/)app$/.test(own) && !/(?:^|\/)page\.mdx?$/.test(path) ? "partial" : "page";
    },
    dialect: () => dialect,
    routes(path) {
      const own = rootOf(path) ?? root;
      const inside = stripExtension(path.slice(own.length + 1)).replace(/(?:^|\/)\([^)]+\)(?=\/)/g, "");
      const isApp = /(?:^|\/)app$/.test(own);
      return [`/${inside.replace(isApp ? /(?:^|\/)page$/ : /(?:^|\/)index$/, "")}`.replace(/^\/\//, "/")];
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
    isGenerated: (route) =>
      paths.some((path) => roots.some((dir) => isBelow(path, dir) && servesRoute(path.slice(dir.length + 1), route))),
    relativeRoutes: true,
  };
}

/** Pages that are code, and folders that parameters fill. */
function servesRoute(path: string, route: string): boolean {
  if (!/\.[jt]sx?$/.test(path)) return false;
  const source = stripExtension(path.replace(/\.[jt]sx?$/, "")).replace(/(?:^|\/)(?:page|index|route)$/, "");
  if (!/\[/.test(source)) return source === route;
  const fixed = source.slice(0, source.indexOf("[")).replace(/\/$/, "");
  return fixed !== "" && isBelow(route, fixed);
}

function readMeta(context: FrameworkContext, file: string, text: string, labels: Label[]): NavList | null {
  const map = [...walkLiteral(parseLiteral(text))].find((node): node is ObjectLiteral => node.kind === "object");
  if (map === undefined) return null;
  const folder = dirOf(file);
  const lines = indexLines(text);
  const items = map.entries.map(({ key, keyStart, value }): NavItem => {
    const label = value.kind === "string" ? value : entryOf(value, "title");
    if (label?.kind === "string") labels.push({ file, start: label.start + 1, end: label.end - 1 });
    const isOther =
      entryOf(value, "href") !== undefined || entryOf(value, "type") !== undefined || value.kind === "other";
    const path = [".mdx", ".md", "/index.mdx", "/index.md", "/page.mdx"]
      .map((end) => `${underDir(folder, key)}${end}`)
      .find((one) => context.files.has(one));
    return {
      start: keyStart,
      end: value.end,
      ...lines.place(keyStart),
      target: path ?? underDir(folder, key),
      // With the quotes: whether a key needs any depends on its name.
      targetStart: keyStart,
      targetEnd: keyStart + encodePiece(key).length + (/["']/.test(text.charAt(keyStart)) ? 2 : 0),
      label: stringOf(label),
      // A folder needs no page of its own, and code may make one.
      isForeign: isOther || key === "*" || (path === undefined && hasFolderOrCode(context, folder, key)),
    };
  });
  const quotesAll = map.entries.some(({ key, keyStart }) => plainKey.test(key) && /["']/.test(text.charAt(keyStart)));
  const sampleText = map.entries.find(({ value }) => value.kind === "string")?.value;
  const writeKey = (name: string): string =>
    plainKey.test(name) && !quotesAll ? name : quoteLike(text, file.endsWith(".json") ? undefined : sampleText, name);
  return {
    file,
    folder,
    written: writeKey,
    text,
    trail: [folder.slice(folder.lastIndexOf("/") + 1)],
    items,
    remove: (index) => removeMembers(map, new Set([index])),
    insert(source, index, target, title) {
      const key = writeKey(target);
      return insertMember(source, map, index, encodePiece(`${key}: ${quoteLike(source, sampleText, title)}`));
    },
  };
}

function hasFolderOrCode(context: FrameworkContext, folder: string, key: string): boolean {
  const stem = underDir(folder, key);
  for (const path of context.files.keys()) {
    if (path.startsWith(`${stem}/`) || /^\.[jt]sx?$/.test(path.startsWith(stem) ? path.slice(stem.length) : ""))
      return true;
  }
  return false;
}
