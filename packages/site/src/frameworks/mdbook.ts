import { baseOf, dirOf, isBelow, joinPath, relativePath, stripExtension } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { encodePiece, indexLines, newlineOf, type Splice } from "../text/bytes.ts";
import type { Framework, FrameworkContext, Model, Redirect } from "./framework.ts";
import { readSummary } from "./gitbook.ts";
import { isDocument } from "./pages.ts";

const redirectTable = /^\[output\.html\.redirect\][ \t]*\r?\n/m;
const redirectLine = /^([ \t]*)(?:"([^"\n]*)"|'([^'\n]*)')([ \t]*=[ \t]*["'])([^"'\n]*)["'][^\n]*(?:\n|$)/gm;

/** `"/old.html" = "new.html"`: the new URL is relative to the old one, so a book works below any base path. */
function readRedirects(file: string, text: string): Pick<Model, "redirects" | "redirectStore"> {
  const table = redirectTable.exec(text);
  const start = table === null ? text.length : table.index + table[0].length;
  const rest = text.slice(start);
  const end = start + (/^[ \t]*\[/m.exec(rest)?.index ?? rest.length);
  const lines = indexLines(text);
  const ranges = new Map<Redirect, Splice>();
  for (const found of text.slice(start, end).matchAll(redirectLine)) {
    const [whole, indent = "", one, other, gap = "", to = ""] = found;
    const from = one ?? other ?? "";
    const at = start + found.index;
    const toStart = at + indent.length + from.length + 2 + gap.length;
    const redirect: Redirect = {
      from,
      to: /^(?:[a-z]+:|\/)/i.test(to) ? to : `/${joinPath(dirOf(from).slice(1), to) ?? to}`,
      file,
      ...lines.place(at + indent.length),
      // A relative target is not rewritten: it reaches the moved page through that page's own redirect.
      ...(to.startsWith("/") ? { toRange: [toStart, toStart + to.length] as const } : {}),
    };
    ranges.set(redirect, { start: at, end: at + whole.length, text: "" });
  }
  return {
    redirects: [...ranges.keys()],
    redirectStore: {
      add(pairs) {
        const newline = newlineOf(text);
        const added = pairs.map(
          ({ from, to }) =>
            `"${encodePiece(from)}" = "${encodePiece(to.startsWith("/") ? relativePath(dirOf(from).slice(1), to.slice(1)) : to)}"${newline}`,
        );
        const head =
          table === null
            ? `${text.endsWith("\n") || text === "" ? "" : newline}${newline}[output.html.redirect]${newline}`
            : "";
        return { file, splices: [{ start, end: start, text: head + added.join("") }] };
      },
      remove: (gone) => ({ file, splices: gone.flatMap((redirect) => ranges.get(redirect) ?? []) }),
    },
  };
}

export const mdbook: Framework = {
  name: "mdbook",
  marker: /(?:^|\/)book\.toml$/,
  load: loadMdbook,
};

async function loadMdbook(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = (await context.readText(marker)) ?? "";
  const source = /^\s*src\s*=\s*["']([^"']+)["']/m.exec(text)?.[1] ?? "src";
  const root = joinPath(dirOf(marker), source) ?? source;
  const summary = joinPath(root, "SUMMARY.md") ?? "";
  const preprocessor = [...text.matchAll(/^\s*\[preprocessor\.([\w-]+)/gm)].find(
    ([, name = ""]) => !/^(?:links|index)$/.test(name),
  )?.[1];
  const contents = await context.readText(summary);
  if (contents === null) return null;
  const dialect: Dialect = { ...plainDialect, templates: true, includes: "mdbook" };
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const lists = readSummary(summary, contents, dialect);
  const listed = new Set(lists.flatMap(({ items }) => items.flatMap(({ target }) => target ?? [])));
  const unlisted = new Set([...context.files.keys()].filter((path) => isDocument(path, root) && !listed.has(path)));
  // Without an index page, the first chapter is also served at the root.
  const hasFront = [...listed].some((path) => dirOf(path) === root && /^(?:index|readme)\.md$/i.test(baseOf(path)));
  return {
    framework: "mdbook",
    root,
    configFiles: [marker, summary],
    // Pages outside the table of contents are not built, but may be included.
    role: (path) => (!isDocument(path, root) || path === summary ? null : unlisted.has(path) ? "partial" : "page"),
    dialect: () => dialect,
    routes: (path) => [`/${stripExtension(inRoot(path)).replace(/(^|\/)(?:README|index)$/i, "$1")}`],
    publicDirs: [root],
    basePath: "",
    navigation: lists,
    labels: [],
    listsPages: false,
    navRoute: (target) => ({ path: target }),
    navTarget: (path, _route, _fields, list) => relativePath(dirOf(list.file), path).replaceAll(" ", "%20"),
    ...readRedirects(marker, text),
    redirectTarget: (_path, route) => `${route.replace(/\/$/, "/index")}.html`,
    ownTarget(target, from) {
      const place = /^\.\.?(?:[/?#]|$)/.test(target) ? joinPath(dirOf(from), target.replace(/[?#].*$/, "")) : null;
      // Content next to the book is served by its host: other books, the API reference.
      return place === null || isBelow(place, root) || context.files.has(place) || (place === root && hasFront)
        ? null
        : { plain: `{${target}}`, name: target };
    },
    ...(preprocessor === undefined
      ? {}
      : { makesIds: `the preprocessor \`${preprocessor}\``, makers: { what: `the preprocessor \`${preprocessor}\`` } }),
    // Related books are often served next to each other.
    checksAbsolute: false,
    links: {
      markdown: "file",
      sources: "pages",
      rootMarkdown: true,
      relative: "address",
      html: "pages",
      redirects: true,
      base: "either",
      slashes: "pages",
    },
    looseAnchors: true,
  };
}
