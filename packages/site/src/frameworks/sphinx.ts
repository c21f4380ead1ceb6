import { dirOf, joinPath, stripExtension, underDir } from "../links/route.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { createIgnore } from "./ignore-file.ts";
import { isDocument, unlisted } from "./pages.ts";

/** Sphinx whose pages are Markdown, read by MyST. */
export const sphinx: Framework = {
  name: "sphinx",
  marker: /(?:^|\/)conf\.py$/,
  confirm: (text) => /["'](?:myst_parser|myst_nb|recommonmark|sphinx_immaterial)["']/.test(text),
  load: loadSphinx,
};

async function loadSphinx(context: FrameworkContext, marker: string): Promise<Model | null> {
  const text = (await context.readText(marker)) ?? "";
  const root = dirOf(marker);
  const list = /^exclude_patterns\s*=\s*\[([^\]]*)\]/m.exec(text)?.[1] ?? "";
  const patterns = [...list.matchAll(/["']([^"']+)["']/g)].map(([, pattern = ""]) => pattern);
  const isExcluded = createIgnore(["_build", ...patterns].join("\n"));
  const inRoot = (path: string): string => (root === "" ? path : path.slice(root.length + 1));
  const isPage = (path: string): boolean => isDocument(path, root) && !isExcluded(inRoot(path));
  if (![...context.files.keys()].some(isPage)) return null;
  const dialect: Dialect = { ...plainDialect, colons: true, headingIds: [] };
  return {
    framework: "sphinx",
    root,
    configFiles: [marker],
    role: (path) => (isPage(path) ? "page" : null),
    dialect: () => dialect,
    routes: (path) => [`/${stripExtension(inRoot(path))}.html`],
    publicDirs: [
      root,
      ...[...text.matchAll(/^html_extra_path\s*=\s*\["'([^"']+)/gm)].map(([, dir = ""]) => underDir(root, dir)),
    ],
    basePath: "",
    ...unlisted,
    ownTarget(target, from) {
      // `[text](label)` names a document, or whatever has that label on any page.
      const stem = joinPath(target.startsWith("/") ? root : dirOf(from), target.replace(/^\/|#.*$/g, "")) ?? "";
      const isDocumented = [".md", ".rst", ".ipynb", ""].some((end) => context.files.has(stem + end));
      return isDocumented || /^[.#]|\.\w{2,5}(?:#|$)/.test(target) ? null : { plain: `{${target}}`, name: target };
    },
    checksAbsolute: false,
    looseAnchors: "unknown",
  };
}
