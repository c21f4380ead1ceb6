import type { ParseCache } from "./cache/disk-cache.ts";
import { inheritChecks } from "./check-site.ts";
import { detectFramework } from "./frameworks/detect.ts";
import type { EvaluateConfig, FrameworkContext, Model } from "./frameworks/framework.ts";
import { buildIndex, makeNode, type PageNode, sameRoutes } from "./links/site-index.ts";
import { pageExtension } from "./links/target.ts";
import { dialectKey } from "./parse/dialect.ts";
import { filesInlineMax, type ParseRequest, parseFiles } from "./parse/parse-files.ts";
import { openParsePool, type ParsePool, usefulThreads } from "./parse/parse-pool.ts";
import type { Site } from "./site.ts";
import { toByteString } from "./text/bytes.ts";
import { createTimeSlice } from "./text/time-slice.ts";
import type { IgnoreEntry, SiteFile, SiteTree } from "./types.ts";

export interface OpenOptions {
  /** The folder of the docs, if the caller knows it. */
  docsDir?: string;
  /** Findings that the project's settings silence. They never come from a tree, so no change can add one. */
  ignore?: readonly IgnoreEntry[] | undefined;
  /** Pass the same cache to every call, so that only changed files are parsed. */
  cache?: ParseCache;
  /** The same site at an earlier state: unchanged parts are reused. Default: the cache's latest site. */
  previous?: Site;
  /** Runs the site's configuration, so that its values count instead of what its text shows. Default: it is only read. */
  evaluate?: EvaluateConfig | undefined;
  signal?: AbortSignal;
  onProgress?: (done: number, total: number) => void;
}

/** Reads a tree as a docs site: its framework, pages, links, navigation and redirects. */
export async function openSite(tree: SiteTree, options: OpenOptions = {}): Promise<Site> {
  const threads = createThreads(tree, options.cache);
  try {
    return await readSite(tree, options, threads);
  } finally {
    await threads.close();
  }
}

async function readSite(tree: SiteTree, options: OpenOptions, threads: Threads): Promise<Site> {
  const { cache, signal, onProgress } = options;
  const breathe = createTimeSlice(signal);
  const listed = await tree.list();
  const docsDir = (options.docsDir ?? "").replace(/^(?:\.?\/)+|\/+$/g, "").replace(/^\.$/, "");
  const previous = usable(options.previous ?? cache?.latest, docsDir);
  const changed = previous === null ? null : changedFiles(previous, listed);
  await breathe();
  const files = new Map<string, SiteFile>(changed === null ? [] : previous?.index.files);
  for (const file of changed?.values() ?? listed) files.set(file.path, file);
  await breathe();
  const isSameShape =
    previous !== null && changed !== null && !previous.model.configFiles.some((path) => changed.has(path));
  // Threads start slowly: they start while the configuration is read.
  if (!isSameShape && tree.folder !== undefined && hasManyDocuments(files)) threads.open();
  const model = isSameShape
    ? previous.model
    : await detect(tree, files, { docsDir, breathe, evaluate: options.evaluate });

  const nodes = new Map<string, PageNode>(isSameShape ? previous.index.nodes : []);
  const requests: ParseRequest[] = [];
  for (const path of (isSameShape ? changed : files).keys()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const file = files.get(path);
    if (file === undefined || model.role(path) === null) continue;
    const known = isSameShape ? null : reuse(previous, model, file);
    if (known === null) requests.push({ file, dialect: model.dialect(path) });
    else nodes.set(path, known);
  }
  const parsed = await parseFiles({ tree, cache, signal, onProgress, openPool: threads.open }, requests);
  // Threads stop slowly: they stop while the site is assembled.
  const ended = threads.close();
  ended.catch(() => undefined);
  const order = isSameShape ? nodes : new Map<string, PageNode>();
  for (const { file } of requests) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const found = parsed.get(file.path);
    if (found !== undefined) nodes.set(file.path, makeNode(model, file.path, found.brief, found.hash));
  }
  if (!isSameShape) {
    // In the tree's order, whether a page was reused or parsed.
    for (const path of files.keys()) {
      const node = nodes.get(path);
      if (node !== undefined) order.set(path, node);
    }
  }
  await breathe();
  const keepsRoutes = isSameShape && requests.every(({ file }) => sameRoutes(previous.index, order, file.path));
  const index = keepsRoutes
    ? { ...previous.index, files, nodes: order, anchors: new Map(), state: {} }
    : buildIndex(model, files, order);
  const site: Site = {
    framework: model.framework,
    root: model.root,
    docsDir,
    ignore: options.ignore ?? [],
    pages: [...order.values()].filter((node) => !node.isPartial),
    navigation: model.navigation,
    redirects: model.redirects,
    tree,
    model,
    index,
  };
  if (keepsRoutes) inheritChecks(site, previous, new Set(changed.keys()));
  if (cache !== undefined) cache.latest = site;
  await breathe();
  return site;
}

interface Threads {
  open(): ParsePool;
  close(): Promise<void>;
}

/** The parsing threads of one `openSite` call, started on demand. */
function createThreads(tree: SiteTree, cache: ParseCache | undefined): Threads {
  let pool: ParsePool | null = null;
  return {
    open() {
      // File hashes in a folder are known only after reading, so the threads get the keys of the cached records.
      pool ??= openParsePool({
        // If this thread reads the files for the others, it is busy itself.
        threads: usefulThreads(tree.folder === undefined ? 1 : 0),
        known: new Set(tree.folder === undefined ? [] : cache?.keys()),
      });
      return pool;
    },
    close: async () => pool?.close(),
  };
}

function hasManyDocuments(files: ReadonlyMap<string, SiteFile>): boolean {
  let documents = 0;
  for (const path of files.keys()) if (pageExtension.test(path) && ++documents > filesInlineMax) return true;
  return false;
}

function usable(site: Site | undefined, docsDir: string): Site | null {
  return site === undefined || site.docsDir !== docsDir ? null : site;
}

/** The files whose bytes differ. Null unless both trees have the same paths and know their hashes. */
function changedFiles(previous: Site, files: readonly SiteFile[]): Map<string, SiteFile> | null {
  if (previous.index.files.size !== files.length) return null;
  const changed = new Map<string, SiteFile>();
  for (const file of files) {
    const before = previous.index.files.get(file.path);
    if (before === undefined || before.hash === undefined || file.hash === undefined) return null;
    if (before.hash !== file.hash) changed.set(file.path, file);
  }
  return changed;
}

/** The previous page, if its bytes and its dialect are the same. */
function reuse(previous: Site | null, model: Model, file: SiteFile): PageNode | null {
  const before = previous?.index.nodes.get(file.path);
  if (before === undefined || previous === null || file.hash === undefined || before.hash !== file.hash) return null;
  const isSameDialect = dialectKey(previous.model.dialect(file.path)) === dialectKey(model.dialect(file.path));
  return isSameDialect ? makeNode(model, file.path, before.brief, before.hash) : null;
}

function detect(
  tree: SiteTree,
  files: ReadonlyMap<string, SiteFile>,
  known: Pick<FrameworkContext, "docsDir" | "breathe" | "evaluate">,
): Promise<Model> {
  return detectFramework({
    files,
    ...known,
    async readText(path) {
      const bytes = files.has(path) ? await tree.read(path) : null;
      return bytes === null ? null : toByteString(bytes);
    },
  });
}
