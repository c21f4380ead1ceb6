import {
  type CodeReference,
  compareReferences,
  findCodeReferences,
  findEarlierVersions,
  indexSource,
  openGitSource,
  runGit,
  type SiteTree,
  type SourceIndex,
  type StaleReference,
} from "@emend/site";

/** A real repository with code and docs together. */
export interface Repository {
  name: string;
  /** Folders of its docs; all else is source. */
  docs: readonly string[];
  /** Folders that are neither: other languages, old versions, posts. */
  outside?: RegExp;
}

export interface Replayed {
  commit: string;
  /** The one before it in this replay. */
  parent: string;
  stale: StaleReference;
  after: SourceIndex;
}

const pageFile = /\.mdx?$/;

export function isPage({ docs, outside }: Repository, path: string): boolean {
  return docs.some((dir) => path.startsWith(dir)) && pageFile.test(path) && outside?.test(path) !== true;
}

/** Paths that are no source: all of the docs' folders, and what the repository says. */
export function isOutside({ docs, outside }: Repository, path: string): boolean {
  return docs.some((dir) => path.startsWith(dir)) || outside?.test(path) === true;
}

/** Reads the references of pages, each content once. */
export function createPageReader(repository: Repository) {
  const known = new Map<string, CodeReference[]>();
  return async (tree: SiteTree, before: SiteTree | null): Promise<CodeReference[]> => {
    const references: CodeReference[] = [];
    const old = new Map((await before?.list())?.map(({ path, hash }) => [path, hash]));
    const pages = (await tree.list()).filter(({ path }) => isPage(repository, path));
    const isEarlier = findEarlierVersions(pages.map(({ path }) => path));
    for (const { path, hash } of pages) {
      // A page that the change wrote agrees with it.
      if (isEarlier(path) || (before !== null && old.get(path) !== hash)) continue;
      const key = `${path} ${hash}`;
      let found = known.get(key);
      if (found === undefined) {
        const bytes = await tree.read(path);
        found = bytes === null ? [] : findCodeReferences(path, bytes, dialectOf(path));
        known.set(key, found);
      }
      for (const reference of found) references.push(reference);
    }
    return references;
  };
}

function dialectOf(path: string) {
  return {
    syntax: path.endsWith(".mdx") ? ("mdx" as const) : ("md" as const),
    slug: "github" as const,
    headingIds: [],
    idLevels: [1, 6] as const,
    admonitions: true,
    colons: true,
    templates: true,
    frontMatterLinks: false,
  };
}

/** The changes of a replay: each commit with the one before it. With a stride, several commits are one change. */
export interface Replay {
  commits: number;
  stride: number;
  /** Only changes that end with one of these. */
  only?: readonly string[];
}

/**
 * Walks the last commits of a repository from the oldest on, and reports what each made stale in the docs of that
 * commit. With a stride, what a later one of several commits repaired is not stale.
 */
export async function replay(
  gitDir: string,
  repository: Repository,
  { commits: commitsMax, stride, only }: Replay,
  onFinding: (found: Replayed) => void | Promise<void>,
): Promise<{ commits: number; references: number }> {
  const source = openGitSource(gitDir);
  const readPages = createPageReader(repository);
  const log = await runGit(gitDir, ["log", "--first-parent", `-${commitsMax + 1}`, "--format=%H", "HEAD"]);
  const all = log.trim().split("\n").reverse();
  const isOnly = (commit: string) => only === undefined || only.some((start) => commit.startsWith(start));
  const commits = all
    .filter((_, i) => (all.length - 1 - i) % stride === 0)
    .filter((commit, i, list) => isOnly(commit) || isOnly(list[i + 1] ?? ""));
  let index: SourceIndex | null = null;
  let references = 0;
  for (const [i, commit] of commits.entries()) {
    const tree = await source.at(commit);
    const previous: SourceIndex | null = index;
    index = await indexSource(tree, {
      ...(previous === null ? {} : { previous }),
      isOutside: (path) => isOutside(repository, path),
    });
    if (!isOnly(commit)) continue;
    const pages = await readPages(tree, previous?.tree ?? null);
    references = pages.length;
    if (previous === null || index.read === 0) continue;
    // Rename detection is git's slowest step, and most commits do not need it.
    const gone = (await compareReferences(pages, previous, index)).map(({ reference }) => reference);
    if (gone.length === 0) continue;
    const renames = await source.renames(commits[i - 1] as string, commit);
    const parent = commits[i - 1] as string;
    for (const stale of await compareReferences(gone, previous, index, { renames }))
      await onFinding({ commit, parent, stale, after: index });
  }
  source.close();
  return { commits: all.length - 1, references };
}
