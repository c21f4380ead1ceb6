import { baseOf, dirOf, isBelow } from "../links/route.ts";
import { docsify } from "./docsify.ts";
import { docusaurus } from "./docusaurus.ts";
import type { Framework, FrameworkContext, Model } from "./framework.ts";
import { fumadocs } from "./fumadocs.ts";
import { gitbook } from "./gitbook.ts";
import { hugo } from "./hugo.ts";
import { jekyll } from "./jekyll.ts";
import { loadMarkdown } from "./markdown.ts";
import { mdbook } from "./mdbook.ts";
import { mintlify } from "./mintlify.ts";
import { mkdocs } from "./mkdocs.ts";
import { nextra } from "./nextra.ts";
import { withRedirectsFile } from "./redirects-file.ts";
import { sphinx } from "./sphinx.ts";
import { starlight } from "./starlight.ts";
import { vitepress } from "./vitepress.ts";

/** In order of preference where a folder could be several. */
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

// Nearly no file is a marker: one look tells.
const anyMarker = new RegExp(frameworks.map(({ marker }) => marker.source).join("|"));

const skipped = /(?:^|\/)(?:node_modules|\.git|vendor)\//;
const aside = /(?:^|\/)(?:examples?|templates?|fixtures?|tests?|__tests__|playground|sandbox|demos?|starters?)\//i;

function depth(path: string): number {
  return path.split("/").length;
}

/** Finds the framework of a tree: the shallowest marker that its framework recognizes, else plain Markdown. */
export async function detectFramework(context: FrameworkContext): Promise<Model> {
  const { docsDir, files } = context;
  const found: { framework: Framework; path: string }[] = [];
  for (const path of files.keys()) {
    const framework = anyMarker.test(path) ? frameworks.find(({ marker }) => marker.test(path)) : undefined;
    if (framework === undefined || skipped.test(path)) continue;
    // Configuration may stand in the docs folder or above it.
    if (docsDir !== "" && !isBelow(path, docsDir) && !isBelow(`${docsDir}/`, dirOf(path))) continue;
    found.push({ framework, path });
  }
  found.sort(
    (a, b) =>
      Number(aside.test(a.path)) - Number(aside.test(b.path)) ||
      depth(a.path) - depth(b.path) ||
      frameworks.indexOf(a.framework) - frameworks.indexOf(b.framework) ||
      baseOf(a.path).localeCompare(baseOf(b.path)) ||
      (a.path < b.path ? -1 : 1),
  );
  for (const { framework, path } of found) {
    const text = framework.confirm === undefined ? "" : await context.readText(path);
    if (text === null || framework.confirm?.(text, path) === false) continue;
    const model = await framework.load(context, path);
    if (model !== null) return withRedirectsFile(model, context);
  }
  return withRedirectsFile(loadMarkdown(context), context);
}
