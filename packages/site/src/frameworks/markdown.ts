import { underDir } from "../links/route.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { FrameworkContext, Model } from "./framework.ts";
import { folderRoute, isDocument, unlisted } from "./pages.ts";

/** Plain Markdown files, as a forge shows them: no configuration, and paths as routes. */
export function loadMarkdown(context: FrameworkContext): Model {
  const root = context.docsDir;
  const mdx: Dialect = { ...plainDialect, syntax: "mdx" };
  return {
    framework: "markdown",
    root,
    configFiles: [],
    role: (path) => (isDocument(path, root) ? "page" : null),
    dialect: (path) => (path.endsWith(".mdx") ? mdx : plainDialect),
    routes: (path) => [folderRoute(path, root)],
    publicDirs: [root, "", underDir(root, "static"), underDir(root, "public")],
    basePath: "",
    ...unlisted,
    checksAbsolute: "if usual",
    looseAnchors: "unless own",
  };
}
