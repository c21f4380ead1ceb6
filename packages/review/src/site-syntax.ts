import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Tree } from "@emend/tree";
import { rootAbove } from "./page-parts.ts";
import { kindOf, plain } from "./policy.ts";
import type { Syntax } from "./read-page.ts";

/** The files by which builders are known, and how each reads Markdown. */
const builders: ReadonlyArray<readonly [file: RegExp, flavor: string]> = [
  [/(?:^|\/)(?:docusaurus\.config\.[cm]?[jt]s|rspress\.config\.[cm]?[jt]s)$/, "mdx"],
  [/(?:^|\/)(?:docs|mint)\.json$/, "mintlify"],
  [/(?:^|\/)\.(?:vitepress|vuepress)\/config\.[cm]?[jt]s$/, "vue"],
  [/(?:^|\/)\.(?:vitepress|vuepress)\/config\/index\.[cm]?[jt]s$/, "vue"],
  [
    /(?:^|\/)(?:astro\.config\.[cm]?[jt]s|next\.config\.[cm]?[jt]s|conf\.py|\.gitbook\.ya?ml|source\.config\.ts)$/,
    "commonmark",
  ],
  [/(?:^|\/)mkdocs\.ya?ml$/, "python"],
  [/(?:^|\/)_config\.ya?ml$/, "liquid"],
  [/(?:^|\/)(?:hugo\.(?:toml|ya?ml|json)|config\/_default\/(?:hugo|config)\.(?:toml|ya?ml|json))$/, "hugo"],
  [/(?:^|\/)book\.toml$/, "mdbook"],
];

/** Builders that publish `llms.txt` as it is. For the others it can be a template or a page. */
const copying = /^(?:mdx|mintlify|vue|mdbook)$/;
/** Folders in which Markdown can be a template, whose code runs. */
const templateFolders = /(?:^|\/)(?:layouts|themes|archetypes|templates|overrides)\//;

/** How the files of a repository are read, by the builders that its configurations belong to. */
export async function openSyntaxes(base: Tree) {
  const entries = await base.list();
  const folders = new Set(entries.map(({ path }) => /^(?:.*?\/)?content\//.exec(path)?.[0]));
  const sites: { folder: string; flavor: string; reachesOut: boolean }[] = [];
  for (const { path } of entries) {
    const isHugo = /(?:^|\/)config\.(?:toml|ya?ml)$/.test(path) && folders.has(`${folderOf(path)}content/`);
    const flavor = isHugo ? "hugo" : builders.find(([file]) => file.test(path))?.[1];
    if (flavor === undefined) continue;
    const folder = folderOf(path).replace(/(?:\.(?:vitepress|vuepress)|config\/_default)\/.*$/, "");
    const text = (await base.read(path))?.toString() ?? "";
    const flavors = flavor === "python" ? pythonFlavors(text) : [flavor];
    // It may name folders of pages outside of its own.
    const reachesOut = text.includes("..");
    for (const one of flavors)
      sites.push({ folder, reachesOut, flavor: one !== "mintlify" || /mintlify/i.test(text) ? one : "mdx" });
  }
  let paths: ReadonlySet<string> | undefined;
  let folded: ReadonlyMap<string, string> | undefined;
  let families: ReadonlySet<string | null> | undefined;

  function has(path: string): boolean {
    paths ??= new Set(entries.map((entry) => entry.path));
    return paths.has(path);
  }

  /**
   * The builder of the nearest folder, or of the whole repository for a page outside of each site, and those whose
   * configurations name folders outside of their own. Where it is not sure who reads a page, it is read as each of them
   * does, and as an unknown one.
   */
  function flavorOf(path: string): string {
    const above = sites.filter(({ folder }) => path.startsWith(folder));
    const depth = Math.max(-1, ...above.map(({ folder }) => folder.length));
    const nearest = above.length === 0 ? sites : above.filter(({ folder }) => folder.length === depth);
    const outside = sites.filter(({ folder, reachesOut }) => reachesOut && !path.startsWith(folder));
    const flavors = new Set([...nearest, ...outside].map(({ flavor }) => flavor));
    if (flavors.size !== 1 || templateFolders.test(path)) flavors.add("");
    return [...flavors].sort().join("|");
  }

  return {
    /** Null if the file is neither a page nor a configuration. */
    syntaxOf(path: string): Syntax | null {
      const kind = kindOf(path);
      if (kind === "navigation" || kind === "configuration") return `${kind} ${path}`;
      const flavor = flavorOf(path);
      if (/\.mdx$/i.test(path)) return flavor === "mintlify" ? "mdx mintlify" : "mdx";
      if (/\.rst$/i.test(path)) return "rst";
      if (/\.(?:adoc|asciidoc|asc)$/i.test(path)) return "asciidoc";
      if (/(?:^|\/)llms[\w-]*\.txt$/i.test(path)) return copying.test(flavor) ? "text" : "markdown ";
      if (!/\.(?:md|markdown|mdown|mkdn?)$/i.test(path)) return null;
      if (flavor === "mintlify") return "mdx mintlify";
      return flavor === "mdx" ? "mdx" : `markdown ${flavor}`;
    },
    /**
     * The syntaxes of pages that include this file and are written in another one: there it is read as they are.
     */
    async includersOf(path: string, signal: AbortSignal): Promise<readonly Syntax[]> {
      const own = familyOf(path);
      families ??= new Set(entries.map((entry) => familyOf(entry.path)));
      if (own === null || ![...families].some((one) => one !== null && one !== own)) return [];
      const accepts = (other: string) => !(familyOf(other) ?? own).includes(own);
      const query = { pattern: posix.basename(path), kind: "literal" as const, matchesMax: 100, accepts };
      const { matches } = await base.search(query, signal);
      const pages = new Set(matches.filter(({ text }) => /include|8</.test(text)).map((match) => match.path));
      return [...new Set([...pages].map((page) => this.syntaxOf(page)).filter((one) => one !== null))];
    },
    /** Builders look for an included file next to the page, in the docs folder and in the repository's root. */
    isInside(target: string, path: string, docsDir: string): boolean {
      if (/^[a-z][a-z0-9+.-]*:|^~|(?:^|\/)\.[^./]/i.test(target) || rootAbove.test(target)) return false;
      const docs = docsDir.replace(/\/*$/, "/").replace(/^\/$/, "");
      const bare = target.replace(/^(?:@site\/|@\/|\/)/, "").replace(/[#{:].*$/, "");
      return [folderOf(path), docs, ""].some((from) => {
        const resolved = posix.join(from, bare);
        return resolved.startsWith(docs) && ["", ".md", ".mdx", ".rst"].some((ending) => has(resolved + ending));
      });
    },
    /** A file or folder that some file systems take for this new one. */
    async twinOf(path: string): Promise<string | null> {
      folded ??= await foldedPaths(entries.map((entry) => entry.path));
      for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
        const twin = folded.get(fold(path.slice(0, end)));
        if (twin !== undefined && twin !== path.slice(0, end)) return twin;
      }
      return null;
    },
  };
}

/** Plugins of MkDocs decide what a page can do. */
function pythonFlavors(configuration: string): readonly string[] {
  const isOwn = /macros|markdown-exec|mkdocs-jupyter|jinja|simple-hooks|gen-files|include-markdown/.test(configuration);
  const flavor = /superfences|zensical/.test(configuration) ? "superfences" : "python";
  return isOwn ? [flavor, ""] : [flavor];
}

async function foldedPaths(paths: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const folded = new Map<string, string>();
  for (const [index, path] of paths.entries()) {
    // Large repositories have hundreds of thousands of paths.
    if (index % 5_000 === 4_999) await setImmediate();
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const part = path.slice(0, end);
      const key = fold(part);
      if (folded.has(key) && end !== path.length) break;
      if (!folded.has(key)) folded.set(key, part);
    }
  }
  return folded;
}

function fold(path: string): string {
  return path.split("/").map(plain).join("/");
}

/** Which of the three languages of pages a file is written in, by its ending. */
export function familyOf(path: string): "markdown" | "rst" | "asciidoc" | null {
  if (/\.rst$/i.test(path)) return "rst";
  if (/\.(?:adoc|asciidoc|asc)$/i.test(path)) return "asciidoc";
  return /\.(?:mdx?|markdown|mdown|mkdn?)$/i.test(path) ? "markdown" : null;
}

export function folderOf(target: string): string {
  return target.slice(0, target.lastIndexOf("/") + 1);
}
