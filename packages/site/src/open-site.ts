import { detectFramework } from "./frameworks/detect.ts";
import { buildIndex, makeNode, type PageNode } from "./links/site-index.ts";
import { type ParseCache, type ParseRequest, parseFiles } from "./parse/parse-files.ts";
import type { Site } from "./site.ts";
import { toByteString } from "./text/bytes.ts";
import type { SiteFile, SiteTree } from "./types.ts";

export interface OpenOptions {
  /** The folder that holds the docs, where the caller knows. */
  docsDir?: string;
  /** Hand the same one to every call and only changed files are parsed. */
  cache?: ParseCache;
  signal?: AbortSignal;
}

/** Reads a tree as a docs site: its framework, pages, links, navigation and redirects. */
export async function openSite(tree: SiteTree, options: OpenOptions = {}): Promise<Site> {
  const files = new Map<string, SiteFile>();
  for (const file of await tree.list()) files.set(file.path, file);
  const docsDir = (options.docsDir ?? "").replace(/^(?:\.?\/)+|\/+$/g, "").replace(/^\.$/, "");
  const model = await detectFramework({
    files,
    docsDir,
    async readText(path) {
      const bytes = files.has(path) ? await tree.read(path) : null;
      return bytes === null ? null : toByteString(bytes);
    },
  });
  const requests: ParseRequest[] = [];
  for (const file of files.values()) {
    if (model.role(file.path) !== null) requests.push({ file, dialect: model.dialect(file.path) });
  }
  const parsed = await parseFiles(tree, requests, options.cache, options.signal);
  const nodes = new Map<string, PageNode>();
  for (const { file } of requests) {
    const found = parsed.get(file.path);
    if (found !== undefined) nodes.set(file.path, makeNode(model, file.path, found.facts, found.hash));
  }
  const index = buildIndex(model, files, nodes);
  return {
    framework: model.framework,
    root: model.root,
    pages: [...nodes.values()].filter((node) => !node.isPartial),
    navigation: model.navigation,
    redirects: model.redirects,
    tree,
    model,
    index,
  };
}
