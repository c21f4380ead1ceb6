import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Tree } from "@emend/tree";
import { kindOf, plain } from "./policy.ts";
import type { Flavor, Syntax } from "./syntax.ts";

const common: Flavor = { isMdx: false, isVue: false, templates: "", isUnsure: false };
const unknown: Flavor = { ...common, templates: "hugo liquid mdbook", isUnsure: true };
const liquid: Flavor = { ...common, templates: "liquid", isUnsure: true };
/** The files by which builders are known, and how each reads Markdown. */
const builders: ReadonlyArray<readonly [file: RegExp, flavor: Flavor]> = [
  [
    /(?:^|\/)(?:docusaurus\.config\.[cm]?[jt]s|rspress\.config\.[cm]?[jt]s|(?:docs|mint)\.json)$/,
    { ...common, isMdx: true },
  ],
  [/(?:^|\/)\.(?:vitepress|vuepress)\/config(?:\/index)?\.[cm]?[jt]s$/, { ...common, isVue: true }],
  [/(?:^|\/)(?:astro\.config\.[cm]?[jt]s|next\.config\.[cm]?[jt]s|source\.config\.ts)$/, common],
  [/(?:^|\/)conf\.py$/, common],
  [/(?:^|\/)\.gitbook\.ya?ml$/, { ...common, templates: "liquid" }],
  [/(?:^|\/)mkdocs\.ya?ml$/, { ...common, isUnsure: true }],
  [/(?:^|\/)_config\.ya?ml$/, liquid],
  [
    /(?:^|\/)(?:hugo\.(?:toml|ya?ml|json)|config\/_default\/(?:hugo|config)\.(?:toml|ya?ml|json))$/,
    { ...common, templates: "hugo" },
  ],
  [/(?:^|\/)book\.toml$/, { ...common, templates: "mdbook" }],
];
/** Builders that publish `llms.txt` as it is. For the others it can be a template or a page. */
const templateFolders = /(?:^|\/)(?:layouts|themes|archetypes|templates|overrides)\//;

/** How the files of a repository are read, by the builders that its configurations belong to. */
export async function openSyntaxes(base: Tree) {
  const entries = await base.list();
  const folders = new Set(entries.map(({ path }) => /^(?:.*?\/)?content\//.exec(path)?.[0]));
  const sites: { folder: string; flavor: Flavor; reachesOut: boolean }[] = [];
  for (const { path } of entries) {
    const isHugo = /(?:^|\/)config\.(?:toml|ya?ml)$/.test(path) && folders.has(`${folderOf(path)}content/`);
    const known = isHugo ? { ...common, templates: "hugo" } : builders.find(([file]) => file.test(path))?.[1];
    if (known === undefined) continue;
    const folder = folderOf(path).replace(/(?:\.(?:vitepress|vuepress)|config\/_default)\/.*$/, "");
    const text = (await base.read(path))?.toString() ?? "";
    // Plugins of MkDocs decide what a page can do.
    const isJinja =
      /mkdocs/.test(path) && /macros|markdown-exec|jupyter|jinja|hooks|gen-files|include-markdown/.test(text);
    // It may name folders of pages outside of its own.
    sites.push({
      folder,
      reachesOut: text.includes(".."),
      flavor:
        known.isMdx && /format:\s*["'](?:detect|md)["']/.test(text)
          ? common
          : isJinja
            ? unknown
            : /mkdocs/.test(path) && /superfences|zensical/.test(text)
              ? { ...known, hasInfos: true }
              : known,
    });
  }
  let folded: ReadonlyMap<string, string> | undefined;

  /** The builder of the nearest folder, or of the whole repository. Where two may read a page, all that either does is in doubt. */
  function flavorOf(path: string): Flavor {
    const above = sites.filter(({ folder }) => path.startsWith(folder));
    const depth = Math.max(-1, ...above.map(({ folder }) => folder.length));
    const nearest = above.length === 0 ? sites : above.filter(({ folder }) => folder.length === depth);
    const outside = sites.filter(({ folder, reachesOut }) => reachesOut && !path.startsWith(folder));
    const flavors = [...new Set([...nearest, ...outside].map(({ flavor }) => flavor))];
    if (templateFolders.test(path) || flavors.length === 0) flavors.push(unknown);
    const [first = unknown] = flavors;
    if (flavors.length === 1) return first;
    return {
      isMdx: flavors.every(({ isMdx }) => isMdx),
      isVue: flavors.some(({ isVue }) => isVue),
      templates: flavors
        .map(({ templates }) => templates)
        .join(" ")
        .trim(),
      isUnsure: true,
      ...(flavors.some(({ isMdx }) => isMdx) && { hasBraces: true }),
    };
  }

  return {
    /** Null if the file is neither a page nor a configuration. */
    syntaxOf(path: string): Syntax | null {
      const file = kindOf(path);
      if (file === "navigation" || file === "configuration") return { kind: file, path, flavor: common };
      const flavor = flavorOf(path);
      // Nothing of the path but its ending decides how a page is read.
      const page = (kind: Syntax["kind"], more: Partial<Flavor> = {}): Syntax => ({
        kind,
        path: "",
        flavor: { ...flavor, ...more },
      });
      if (/\.mdx$/i.test(path))
        return page("markdown", { isMdx: true, templates: "", isVue: false, isUnsure: false, hasBraces: false });
      if (/\.rst$/i.test(path)) return page("rst");
      if (/\.(?:adoc|asciidoc|asc)$/i.test(path)) return page("asciidoc");
      if (/(?:^|\/)llms[\w-]*\.txt$/i.test(path))
        return flavor.templates === "" && !flavor.isUnsure ? page("text") : page("markdown", unknown);
      return /\.(?:md|markdown|mdown|mkdn?)$/i.test(path) ? page("markdown") : null;
    },
    /** Whether pages of another language may include this file: there it is read as they are. */
    async isIncluded(path: string, signal: AbortSignal): Promise<boolean> {
      const own = familyOf(path);
      if (own === null || entries.every((entry) => (familyOf(entry.path) ?? own) === own)) return false;
      const accepts = (other: string) => (familyOf(other) ?? own) !== own;
      const { matches } = await base.search(
        { pattern: posix.basename(path), kind: "literal", matchesMax: 100, accepts },
        signal,
      );
      return matches.some(({ text }) => /include|8</.test(text));
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

export function folderOf(target: string): string {
  return target.slice(0, target.lastIndexOf("/") + 1);
}

/** Which of the three languages of pages a file is written in, by its ending. */
function familyOf(path: string): string | null {
  const [, ending = ""] = /\.(rst|adoc|asciidoc|asc|mdx?|markdown|mdown|mkdn?)$/i.exec(path) ?? [];
  return ending === "" ? null : /^r/i.test(ending) ? "rst" : /^a/i.test(ending) ? "asciidoc" : "markdown";
}
