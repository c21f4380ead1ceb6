import { dirOf, isBelow, joinPath, stripExtension, underDir } from "../links/target.ts";
import {
  type ArrayLiteral,
  entryOf,
  insertMember,
  type Literal,
  quoteLike,
  type StringLiteral,
  someLiteral,
  stringOf,
} from "../literal/literal.ts";
import { parseLiteral } from "../literal/parse-literal.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { encodePiece, indexLines, isAsciiText, type LineIndex } from "../text/bytes.ts";
import type { Framework, FrameworkContext, Label, Model, NavItem, NavList } from "./framework.ts";
import { createIgnore, isDocument, type Languages, languageFolders, repositoryFiles } from "./pages.ts";
import { arrayRedirects } from "./redirects.ts";

// References may form a cycle.
const depthMax = 40;
const labelKeys = ["group", "tab", "anchor", "dropdown", "product", "item"];
const titleKeys = [...labelKeys, "version", "language"];
// "GET /users" and "webhook name" are operations of an API description. The build generates their pages.
const operation = /^(?:get|post|put|patch|delete|head|options|trace|webhook)\s+\S/i;

export const mintlify: Framework = {
  name: "mintlify",
  marker: /(?:^|\/)(?:docs|mint)\.json$/,
  confirm: (text) => /"navigation"\s*:/.test(text),
  load: loadMintlify,
};

async function loadMintlify(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = await context.readText(marker);
  if (text === null) return null;
  const root = dirOf(marker);
  const config = parseLiteral(text);
  await context.breathe();
  const lines = indexLines(text, isAsciiText(text));
  const lists: NavList[] = [];
  const labels: Label[] = [];
  const generated: string[] = [];
  const configFiles = [marker];
  await collect(entryOf(config, "navigation"), [], { file: marker, lines, lists, labels, generated });
  await context.breathe();
  const hasApi = someLiteral(config, (node) => entryOf(node, "openapi") !== undefined);
  const part = await readReference(entryOf(config, "redirects"));
  const own = part === null ? { file: marker, text } : { file: part.file, text: part.text, list: part.value };
  const redirects = arrayRedirects({ ...own, root: config, key: "redirects", names: ["source", "destination"] });
  const dialect: Dialect = {
    ...plainDialect,
    syntax: "mdx",
    slug: "mintlify",
    headingIds: ["braces"],
    idLevels: [1, 4],
  };
  const ignoreFile = underDir(root, ".mintignore");
  const isIgnored = createIgnore((await context.readText(ignoreFile)) ?? "");
  configFiles.push(ignoreFile);
  const folders = new Set<string>();
  for (const path of context.files.keys()) {
    if (!isDocument(path, root)) continue;
    for (let dir = dirOf(path); !folders.has(dir); dir = dirOf(dir)) folders.add(dir);
  }
  const snippets = /(?:^|\/)_?snippets\//;
  const isRepositoryFile = repositoryFiles(root, lists);
  return {
    framework: "mintlify",
    root,
    configFiles,
    role(path) {
      if (!isDocument(path, root) || isRepositoryFile(path)) return null;
      if (snippets.test(path)) return "partial";
      // Skills are served for agents, but are not pages.
      if (isIgnored(root === "" ? path : path.slice(root.length + 1)) || /(?:^|\/)skill\.md$/i.test(path)) return null;
      return path === underDir(root, "README.md") ? null : "page";
    },
    dialect: () => dialect,
    routes(path) {
      const inside = stripExtension(root === "" ? path : path.slice(root.length + 1));
      return [`/${inside}`];
    },
    publicDirs: [root],
    // If a site is served below its owner's domain, this is its base path. With a folder of that name, `/docs/a` is its page.
    basePath: folders.has(underDir(root, "docs")) ? "" : "/docs",
    navigation: lists,
    labels,
    listsPages: lists.length > 0,
    isUnlisted: (_path, fields) => fields.hidden === true || fields.noindex === true || fields.url !== undefined,
    navRoute: (target) => ({ route: target }),
    navTarget: (_path, route) => route.slice(1),
    redirects: redirects.redirects,
    redirectStore: redirects.store,
    redirectTarget: (_path, route) => route,
    isGenerated: (route) =>
      // A folder without its own page redirects to one of its pages.
      folders.has(underDir(root, route).replace(/\/$/, "")) ||
      (hasApi && (generated.some((dir) => isBelow(route, dir)) || /^api-?reference(?:\/|$)/.test(route))),
    // `<Snippet file="part.mdx" />` names a file of the snippets.
    ownTarget(target, _from, kind) {
      if (kind !== "include" || /^[./]/.test(target)) return null;
      const dir = ["snippets", "_snippets"].find((name) => folders.has(underDir(root, name))) ?? "snippets";
      return { plain: `/${dir}/${target}`, name: target };
    },
    // The rule for punctuation has changed: ids of older pages keep none of it.
    looseAnchors: true,
    checksAbsolute: true,
    links: {
      markdown: "file",
      rootMarkdown: true,
      relative: "dotted",
      html: "pages",
      redirects: true,
      base: "either",
      slashes: "either",
    },
    ...languageFolders(root, readNavigationLanguages()),
  };

  /** Each language lists its own pages. Those of the default language may be at the root. */
  function readNavigationLanguages(): Languages {
    const listed = entryOf(entryOf(config, "navigation"), "languages");
    const items = listed?.kind === "array" ? listed.items : [];
    const standard = items.find((item) => entryOf(item, "default") !== undefined) ?? items[0];
    const named = items.filter((item) => folders.has(underDir(root, stringOf(entryOf(item, "language")) ?? "")));
    const names = (some: readonly Literal[]): string[] =>
      some.flatMap((item) => stringOf(entryOf(item, "language")) ?? []);
    return {
      standard: names(named.filter((item) => item === standard))[0] ?? "",
      others: names(named.filter((item) => item !== standard)),
    };
  }

  interface Collected {
    file: string;
    lines: LineIndex;
    lists: NavList[];
    labels: Label[];
    generated: string[];
  }

  /** `{ "$ref": "./part.json" }`: configuration in another file. */
  async function readReference(
    node: Literal | undefined,
  ): Promise<{ file: string; text: string; value: Literal } | null> {
    const reference = stringOf(entryOf(node, "$ref"));
    const file = reference === null ? null : joinPath(root, reference);
    const source = file === null ? null : await context.readText(file);
    if (file === null || source === null) return null;
    if (!configFiles.includes(file)) configFiles.push(file);
    return { file, text: source, value: parseLiteral(source) };
  }

  async function collect(
    node: Literal | undefined,
    trail: readonly string[],
    into: Collected,
    depth = 0,
  ): Promise<void> {
    if (node === undefined || depth > depthMax) return;
    if (node.kind === "array") {
      for (const item of node.items) await collect(item, trail, into, depth + 1);
      return;
    }
    if (node.kind !== "object") return;
    const referred = await readReference(node);
    if (referred !== null) {
      await collect(
        referred.value,
        trail,
        { ...into, file: referred.file, lines: indexLines(referred.text) },
        depth + 1,
      );
      return;
    }
    let inner = trail;
    for (const key of titleKeys) {
      const title = entryOf(node, key);
      if (title?.kind !== "string") continue;
      inner = [...trail, title.value];
      if (labelKeys.includes(key)) into.labels.push({ file: into.file, start: title.start + 1, end: title.end - 1 });
    }
    const directory = stringOf(entryOf(entryOf(node, "openapi"), "directory"));
    if (directory !== null) into.generated.push(directory.replace(/^\/|\/$/g, ""));
    for (const { key, value } of node.entries) {
      await context.breathe();
      if (key === "pages" && value.kind === "array") into.lists.push(pageList(value, inner, into));
      if (key === "root" && value.kind === "string") into.lists.push(rootPage(value, inner, into));
      if (key !== "global") await collect(value, inner, into, depth + 1);
    }
  }

  /** A group may have its own page. */
  function rootPage(node: StringLiteral, trail: readonly string[], into: Collected): NavList {
    const list = pageList({ kind: "array", start: node.start, end: node.end, items: [node] }, trail, into);
    return { ...list, isFixed: true };
  }

  function pageList(node: ArrayLiteral, trail: readonly string[], into: Collected): NavList {
    const items = node.items.map((item): NavItem => {
      const target = stringOf(item);
      return {
        start: item.start,
        end: item.end,
        ...into.lines.place(item.start),
        target,
        targetStart: item.start + 1,
        targetEnd: item.end - 1,
        label: null,
        isForeign: target !== null && (operation.test(target) || /^https?:/.test(target) || isExternalPage(target)),
      };
    });
    return {
      file: into.file,
      trail,
      items,
      insert: (source, index, target) =>
        insertMember(source, node, index, encodePiece(quoteLike(source, node.items[0], target))),
    };
  }

  /** An API description may be listed as a page: the build expands it. */
  function isExternalPage(target: string): boolean {
    return /\.(?:json|ya?ml)\b/.test(target) || context.files.has(underDir(root, `${target}.json`));
  }
}
