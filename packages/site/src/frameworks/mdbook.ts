import { dirOf, isBelow, joinPath, relativePath, stripExtension } from "../links/route.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { readSummary } from "./gitbook.ts";
import { isDocument } from "./pages.ts";

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
  const contents = await context.readText(summary);
  if (contents === null) return null;
  const dialect: Dialect = { ...plainDialect, templates: true, includes: "mdbook" };
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const lists = readSummary(summary, contents, dialect);
  return {
    framework: "mdbook",
    root,
    configFiles: [marker, summary],
    role: (path) => (isDocument(path, root) && path !== summary ? "page" : null),
    dialect: () => dialect,
    routes: (path) => [`/${stripExtension(inRoot(path)).replace(/(^|\/)(?:README|index)$/i, "$1")}`],
    publicDirs: [root],
    basePath: "",
    navigation: lists,
    labels: [],
    listsPages: false,
    navRoute: (target) => ({ path: target }),
    navTarget: (path, _route, _fields, list) => relativePath(dirOf(list.file), path).replaceAll(" ", "%20"),
    redirects: [],
    redirectStore: null,
    redirectTarget: (_path, route) => route,
    ownTarget(target, from) {
      const place = /^\.\.?\//.test(target) ? joinPath(dirOf(from), target.replace(/[?#].*$/, "")) : null;
      // What lies beside the book is served by its host: other books, the API's reference.
      return place === null || isBelow(place, root) || context.files.has(place)
        ? null
        : { plain: `{${target}}`, name: target };
    },
    // Books of a family are served beside each other.
    checksAbsolute: false,
    links: {
      markdown: "file",
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
