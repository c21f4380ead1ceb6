import { dirOf, underDir } from "../links/route.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { folderRoute, isDocument, unlisted } from "./pages.ts";

/** Docsify renders Markdown in the browser: its one configuration is a script in a page beside the documents. */
export const docsify: Framework = {
  name: "docsify",
  marker: /(?:^|\/)_(?:sidebar|navbar|coverpage)\.md$/,
  load: loadDocsify,
};

async function loadDocsify(context: FrameworkContext, marker: string): Promise<Model | null> {
  let root = dirOf(marker);
  // Folders may have a sidebar of their own.
  while (root !== "" && !context.files.has(underDir(root, "index.html"))) root = dirOf(root);
  const page = underDir(root, "index.html");
  const text = await context.readText(page);
  if (text === null || !/\$docsify\b|docsify(?:@|\.min)?/i.test(text)) return null;
  const isRelative = /\brelativePath:\s*true\b/.test(text);
  const hasAliases = /\balias:\s*\{/.test(text);
  const dialect: Dialect = { ...plainDialect };
  return {
    framework: "docsify",
    root,
    configFiles: [page],
    // A cover, a sidebar and a bar show on other pages.
    role: (path) => (isDocument(path, root) ? (/(?:^|\/)_[^/]*$/.test(path) ? "partial" : "page") : null),
    dialect: () => dialect,
    routes: (path) => [folderRoute(path, root)],
    publicDirs: [root],
    basePath: "",
    ...unlisted,
    /** `guide?id=here` is a heading, `#/guide` a page, and a path without a slash begins at the top unless it is told otherwise. */
    ownTarget(target) {
      const [, hashed = target] = /^#(\/.*)$/.exec(target) ?? [];
      const [path = "", query = ""] = hashed.split("?");
      if (/^#/.test(path)) return null;
      const id = /(?:^|&)id=([^&#]+)/.exec(query)?.[1];
      const isFromTop = !isRelative && path !== "" && !path.startsWith("/");
      const plain =
        (isFromTop ? `/${path.replace(/^\.\//, "")}` : path) +
        (id === undefined ? (query === "" ? "" : `?${query}`) : `#${id}`);
      return plain === target ? null : { plain, name: path };
    },
    isGenerated: () => hasAliases,
    checksAbsolute: true,
    looseAnchors: true,
  };
}
