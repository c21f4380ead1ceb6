import { dirOf, joinPath, stripExtension, underDir } from "../links/route.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { scanText } from "../parse/scan-page.ts";
import { decodePiece, encodePiece } from "../text/bytes.ts";
import { newlineOf, type Splice } from "../text/splice.ts";
import type { Framework, FrameworkContext, Model, NavItem, NavList } from "./framework.ts";
import { folderRoute, isDocument } from "./pages.ts";
import { mapRedirects } from "./yaml-redirects.ts";
import { readYamlSource, yamlGet, yamlScalar, yamlText } from "./yaml-source.ts";

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
  const summary = joinPath(root, yamlText(yamlGet(structure, "summary")) ?? "SUMMARY.md") ?? "SUMMARY.md";
  const text = (await context.readText(summary)) ?? "";
  const dialect: Dialect = { ...plainDialect, templates: true };
  const known = mapRedirects(config, configText ?? "", yaml, yamlGet(yaml.root, "redirects"));
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const lists = readSummary(summary, text, dialect);
  return {
    framework: "gitbook",
    root,
    configFiles: [summary, config],
    role: (path) =>
      isDocument(path, root) && path !== summary ? (path.includes(".gitbook/includes/") ? "partial" : "page") : null,
    dialect: () => dialect,
    routes: (path) => [folderRoute(path, root)],
    publicDirs: [root],
    basePath: "",
    navigation: lists,
    labels: [],
    listsPages: lists.length > 0,
    isUnlisted: (path, fields) =>
      /(?:^|\/)readme\.md$/i.test(inRoot(path)) && !inRoot(path).includes("/") ? true : fields["hidden"] === true,
    navRoute: (target) => ({
      path: joinPath(dirOf(summary), decodeURI(target.split("#")[0] ?? "").replace(/\/$/, "/README.md")) ?? target,
    }),
    navTarget: (path) => inRoot(path).replaceAll(" ", "%20"),
    redirects: known.redirects,
    redirectStore: known.store ?? {
      add: (pairs) => {
        const newline = newlineOf(configText ?? "");
        const lines = pairs.map(({ from, to }) => `  ${yamlScalar(from)}: ${yamlScalar(to)}${newline}`).join("");
        const section = `redirects:${newline}${lines}`;
        if (configText === null) return { file: config, created: section };
        const gap = configText === "" || configText.endsWith("\n") ? "" : newline;
        return { file: config, splices: [{ start: configText.length, end: configText.length, text: gap + section }] };
      },
      remove: () => null,
    },
    redirectTarget: (path, route) =>
      path === null
        ? route.replace(/^\//, "")
        : stripExtension(inRoot(path)).replace(/(?:^|\/)README$/, "") || "README.md",
    checksAbsolute: false,
    relativeRoutes: true,
  };
}

const entryLine = /^([ \t]*)[*+-][ \t]+(?=\[)/;
const headingLine = /^#{1,6}[ \t]+(.+?)[ \t]*$/;

interface Open {
  indent: number;
  items: NavItem[];
  trail: readonly string[];
}

/** The table of contents: a list below each heading, and one below each entry that has entries of its own. */
function readSummary(file: string, text: string, dialect: Dialect): NavList[] {
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
      target: link?.target ?? null,
      targetStart: link?.start ?? from,
      targetEnd: link?.end ?? from,
      label: decodePiece(text.slice(from + 1, Math.max(from + 1, close))),
      isForeign: link === undefined || /^[a-z]+:|^#/i.test(link.target),
    });
    // Whatever is nested belongs to the entries around it.
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
