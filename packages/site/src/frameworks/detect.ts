import { baseOf, dirOf, isBelow, pageExtension, underDir } from "../links/target.ts";
import { type Dialect, plainDialect } from "../parse/dialect.ts";
import { docsify } from "./docsify.ts";
import { docusaurus } from "./docusaurus.ts";
import { withElsewhere } from "./elsewhere.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { fumadocs } from "./fumadocs.ts";
import { gitbook } from "./gitbook.ts";
import { hugo } from "./hugo.ts";
import { jekyll } from "./jekyll.ts";
import { mdbook } from "./mdbook.ts";
import { mintlify } from "./mintlify.ts";
import { mkdocs } from "./mkdocs.ts";
import { nextra } from "./nextra.ts";
import { folderRoute, isDocument, unlisted } from "./pages.ts";
import { withRedirectsFile } from "./redirects.ts";
import { sphinx } from "./sphinx.ts";
import { starlight } from "./starlight.ts";
import { vitepress } from "./vitepress.ts";

/** In order of preference if a folder matches several. */
const frameworks: readonly Framework[] = [
  mintlify,
  docusaurus,
  mkdocs,
  vitepress,
  starlight,
  nextra,
  fumadocs,
  mdbook,
  hugo,
  jekyll,
  sphinx,
  docsify,
  gitbook,
];

// Nearly no file is a marker: one combined test rejects most files.
const anyMarker = new RegExp(frameworks.map(({ marker }) => marker.source).join("|"));

const skipped = /(?:^|\/)(?:node_modules|\.git|vendor)\//;
const aside = /(?:^|\/)(?:examples?|templates?|fixtures?|tests?|__tests__|playground|sandbox|demos?|starters?)\//i;

function depth(path: string): number {
  return path.split("/").length;
}

// If a repository has more sites than this, those with the fewest documents are ignored.
const sitesMax = 8;

interface Candidate {
  framework: Framework;
  path: string;
  /** The number of documents below the marker's folder. */
  documents: number;
}

/**
 * Finds the framework of a tree. Among the confirmed markers, the one with most pages wins. Default: plain Markdown.
 */
export async function detectFramework(context: FrameworkContext): Promise<Model> {
  const found: { model: Model; pages: number; isAside: boolean; framework: Framework; marker: string }[] = [];
  for (const { framework, path } of await findCandidates(context)) {
    const isAside = aside.test(path);
    // Examples are used only if nothing else is found.
    if (found.length >= sitesMax || (isAside && found.some((one) => !one.isAside))) break;
    const text = framework.confirm === undefined ? "" : await context.readText(path);
    if (text === null || framework.confirm?.(text, path) === false) continue;
    const model = await framework.load(context, path);
    // Another marker of the same site.
    if (model === null || found.some((one) => one.model.root === model.root)) continue;
    found.push({ model, pages: countPages(context, model), isAside, framework, marker: path });
  }
  // The sort is stable: of equals, the first wins.
  const [best, ...others] = found.sort((a, b) => b.pages - a.pages);
  if (best === undefined) return withElsewhere(await withRedirectsFile(loadMarkdown(context), context), context);
  const sites = others.map(({ model, pages }) => ({ framework: model.framework, root: model.root, pages }));
  const evaluated = await context.evaluate?.(best.framework.name, best.marker);
  const known = evaluated == null ? context : { ...context, evaluated };
  const own = known === context ? null : await best.framework.load(known, best.marker);
  const model = { ...(own ?? best.model), ...(sites.length === 0 ? {} : { otherSites: sites }) };
  return withElsewhere(await withRedirectsFile(model, context), own === null ? context : known);
}

/** The most likely first: examples last, then by depth, then by number of documents. */
async function findCandidates(context: FrameworkContext): Promise<Candidate[]> {
  const { docsDir, files } = context;
  const found: Candidate[] = [];
  for (const path of files.keys()) {
    if (!anyMarker.test(path) || skipped.test(path)) continue;
    // The configuration may be in the docs folder or above it.
    if (docsDir !== "" && !isBelow(path, docsDir) && !isBelow(`${docsDir}/`, dirOf(path))) continue;
    for (const framework of frameworks) if (framework.marker.test(path)) found.push({ framework, path, documents: 0 });
  }
  if (found.length > 1) await countDocuments(context, found);
  return found.sort(
    (a, b) =>
      Number(aside.test(a.path)) - Number(aside.test(b.path)) ||
      depth(a.path) - depth(b.path) ||
      b.documents - a.documents ||
      frameworks.indexOf(a.framework) - frameworks.indexOf(b.framework) ||
      baseOf(a.path).localeCompare(baseOf(b.path)) ||
      (a.path < b.path ? -1 : 1),
  );
}

async function countDocuments(context: FrameworkContext, candidates: readonly Candidate[]): Promise<void> {
  const byFolder = Map.groupBy(candidates, ({ path }) => dirOf(path).replace(/(?:^|\/)\.vitepress(?:\/.*)?$/, ""));
  for (const path of context.files.keys()) {
    const turn = context.breathe();
    if (turn !== undefined) await turn;
    if (!pageExtension.test(path)) continue;
    for (let dir = dirOf(path); ; dir = dirOf(dir)) {
      for (const candidate of byFolder.get(dir) ?? []) candidate.documents++;
      if (dir === "") break;
    }
  }
}

function countPages({ files }: FrameworkContext, model: Model): number {
  let pages = 0;
  for (const path of files.keys()) if (pageExtension.test(path) && model.role(path) === "page") pages++;
  return pages;
}

/** Plain Markdown files, as a forge shows them: no configuration, and paths as routes. */
function loadMarkdown(context: FrameworkContext): Model {
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
