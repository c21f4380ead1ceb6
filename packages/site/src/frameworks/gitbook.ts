import {
  baseOf,
  decodePath,
  dirOf,
  isBelow,
  joinPath,
  relativePath,
  stripExtension,
  underDir,
} from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { scanText } from "../parse/scan-page.ts";
import { append, decodePiece, encodePiece, newlineOf, type Splice } from "../text/bytes.ts";
import type { Framework, FrameworkContext, Model, NavItem, NavList, Redirect, RedirectStore } from "./framework.ts";
import { folderRoute, isDocument, repositoryFiles } from "./pages.ts";
import { mapRedirects } from "./redirects.ts";
import { rangeOf, readYamlSource, type YamlSource, yamlGet, yamlPairs, yamlScalar, yamlText } from "./yaml-source.ts";

export const gitbook: Framework = {
  name: "gitbook",
  marker: /(?:^|\/)(?:SUMMARY\.md|\.gitbook\.ya?ml)$/,
  confirm: (text, path) => !path.endsWith(".md") || /^\s*[*-]\s+\[[^\]]*\]\(/m.test(text),
  load: loadGitbook,
};

async function loadGitbook(context: FrameworkContext, marker: string): Promise<Model | null> {
  const top = dirOf(marker);
  const config = underDir(top, ".gitbook.yaml");
  const configText = await context.readText(config);
  const yaml = readYamlSource(configText ?? "");
  const root = joinPath(top, yamlText(yamlGet(yaml.root, "root")) ?? "") ?? top;
  const structure = yamlGet(yaml.root, "structure");
  const named = joinPath(root, yamlText(yamlGet(structure, "summary")) ?? "SUMMARY.md") ?? "SUMMARY.md";
  // A repository may contain several spaces, each with its own table of contents.
  const summaries = context.files.has(named)
    ? [named]
    : [...context.files.keys()].filter((path) => baseOf(path) === "SUMMARY.md" && isDocument(path, root));
  if (summaries.length === 0) return null;
  const dialect: Dialect = { ...plainDialect, templates: true, slug: "gitbook" };
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const lists: NavList[] = [];
  for (const summary of summaries) {
    append(lists, readSummary(summary, (await context.readText(summary)) ?? "", dialect));
  }
  const redirects = readRedirects(config, configText, yaml);
  const isRepositoryFile = repositoryFiles(root, lists);
  const listed = new Set(lists.flatMap(({ items }) => items.flatMap(({ target }) => target ?? [])));
  const isIncluded = (path: string): boolean =>
    isBelow(path, root) && /(?:^|\/)\.gitbook\/includes\/.+\.md$/.test(path);
  // A hidden folder has pages if the table of contents lists them.
  const isPage = (path: string): boolean =>
    isDocument(path, root) || isIncluded(path) || (listed.has(path) && path.endsWith(".md") && context.files.has(path));
  return {
    framework: "gitbook",
    root,
    configFiles: [...summaries, config],
    role: (path) =>
      isPage(path) && !isRepositoryFile(path) && !summaries.includes(path)
        ? isIncluded(path)
          ? "partial"
          : "page"
        : null,
    dialect: () => dialect,
    routes: (path) => [folderRoute(path, root)],
    publicDirs: [root],
    basePath: "",
    navigation: lists,
    labels: [],
    listsPages: lists.length > 0,
    isUnlisted: (path, fields) =>
      /(?:^|\/)readme\.md$/i.test(inRoot(path)) && !inRoot(path).includes("/") ? true : fields.hidden === true,
    navRoute: (target) => ({ path: target }),
    navTarget: (path, _route, _fields, list) => relativePath(dirOf(list.file), path).replaceAll(" ", "%20"),
    redirects: redirects.redirects,
    redirectStore: redirects.store,
    redirectTarget: (path, route) =>
      path === null
        ? route.replace(/^\//, "")
        : stripExtension(inRoot(path)).replace(/(?:^|\/)README$/, "") || "README.md",
    checksAbsolute: "if usual",
    looseAnchors: true,
    // "<" becomes "less-than", but no source says what else is spelled out.
    makesIds: "GitBook's rule for ids, which is not published,",
    links: {
      markdown: "file",
      rootMarkdown: true,
      relative: "file",
      html: "pages",
      redirects: true,
      base: "either",
      slashes: "either",
    },
  };
}

/**
 * Redirects are in `.gitbook.yaml`. The file and its section are created with the first redirect and removed with the
 * last.
 */
function readRedirects(
  file: string,
  text: string | null,
  yaml: YamlSource,
): { redirects: Redirect[]; store: RedirectStore } {
  const section = yamlPairs(yaml.root).find(({ key }) => yamlText(key) === "redirects");
  const known = mapRedirects(file, text ?? "", yaml, section?.value);
  return {
    redirects: known.redirects,
    store: {
      add(pairs) {
        if (known.store !== null) return known.store.add(pairs);
        const newline = newlineOf(text ?? "");
        const lines = pairs.map(({ from, to }) => `  ${yamlScalar(from)}: ${yamlScalar(to)}${newline}`).join("");
        const added = `redirects:${newline}${lines}`;
        if (text === null) return { file, created: added };
        const gap = text === "" || text.endsWith("\n") ? "" : newline;
        return { file, splices: [{ start: text.length, end: text.length, text: gap + added }] };
      },
      remove(gone) {
        const start = rangeOf(section?.key)?.[0];
        const end = rangeOf(section?.value)?.[1];
        if (gone.length < known.redirects.length || start === undefined || end === undefined || text === null) {
          return known.store?.remove(gone) ?? null;
        }
        const rest = text.slice(0, start) + text.slice(end);
        return rest.trim() === "" ? { file, deleted: true } : { file, splices: [{ start, end, text: "" }] };
      },
    },
  };
}

/** Entries name files, relative to the folder of the table of contents. */
function pageOf(file: string, target: string): string {
  const path = decodePath(target.split("#")[0] ?? "").replace(/\/$/, "/README.md");
  return joinPath(dirOf(file), path) ?? target;
}

const entryLine = /^([ \t]*)[*+-][ \t]+(?=\[)/;
const headingLine = /^#{1,6}[ \t]+(.+?)[ \t]*$/;

interface Open {
  indent: number;
  items: NavItem[];
  trail: readonly string[];
}

/** The table of contents: a list below each heading, and one below each entry with nested entries. */
export function readSummary(file: string, text: string, dialect: Dialect): NavList[] {
  const links = scanText(text, dialect).links;
  const lists: NavList[] = [];
  let stack: Open[] = [];
  let trail: string[] = [];
  let start = 0;
  for (const [number, line] of text.split("\n").entries()) {
    const lineStart = start;
    start += line.length + 1;
    const heading = headingLine.exec(line.replace(/\r$/, ""));
    if (heading !== null) {
      stack = [];
      trail = heading[1] === "Table of contents" ? [] : [decodePiece(heading[1] as string)];
      continue;
    }
    const entry = entryLine.exec(line);
    if (entry === null) continue;
    const indent = (entry[1] as string).length;
    while (stack.length > 0 && (stack.at(-1) as Open).indent > indent) stack.pop();
    let open = stack.at(-1);
    if (open === undefined || open.indent < indent) {
      const parent = open?.items.at(-1)?.label;
      open = { indent, items: [], trail: parent ? [...(open?.trail ?? trail), parent] : trail };
      stack.push(open);
      const { items } = open;
      lists.push({
        file,
        trail: open.trail,
        items,
        insert: (source, index, target, title) => insertEntry(source, items, index, target, title),
      });
    }
    const from = lineStart + entry[0].length;
    const end = lineStart + line.replace(/\s+$/, "").length;
    const link = links.find((one) => one.start >= from && one.end <= end);
    const close = text.lastIndexOf("](", link?.start ?? from);
    open.items.push({
      start: from,
      end,
      line: number + 1,
      column: entry[0].length + 1,
      target: link === undefined ? null : pageOf(file, link.target),
      targetStart: link?.start ?? from,
      targetEnd: link?.end ?? from,
      label: decodePiece(text.slice(from + 1, Math.max(from + 1, close))),
      isForeign: link === undefined || /^[a-z]+:|^#/i.test(link.target),
    });
    // A nested entry extends all entries around it.
    for (const outer of stack.slice(0, -1)) {
      const last = outer.items.at(-1);
      if (last !== undefined) last.end = end;
    }
  }
  return lists;
}

function insertEntry(text: string, items: readonly NavItem[], index: number, target: string, title: string): Splice {
  const sample = (items[index - 1] ?? items[0]) as NavItem;
  const lineStart = text.lastIndexOf("\n", sample.start - 1) + 1;
  const marker = text.slice(lineStart, sample.start);
  const line = `${marker}[${encodePiece(title)}](${encodePiece(target)})`;
  const newline = newlineOf(text);
  if (items[index - 1] === undefined) return { start: lineStart, end: lineStart, text: line + newline };
  return { start: sample.end, end: sample.end, text: newline + line };
}
