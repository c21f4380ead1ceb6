import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import {
  folderTree,
  type GitSource,
  indexSource,
  openGitSource,
  runGit,
  type Site,
  type Source,
  type SourceIndex,
} from "@emend/site";
import { CliError } from "../cli.ts";
import { workTree } from "./git-tree.ts";

/** A `--source` argument: a folder, and optional revisions to compare. */
interface SourceName {
  dir: string;
  before: string | null;
  after: string | null;
}

/** The opened sources, their notes, and a function to close them. */
export interface OpenSources {
  sources: Source[];
  indexes: SourceIndex[];
  notes: string[];
  close(): void;
}

/** Opens what `--source DIR`, `DIR@rev` and `DIR@old..new` name, for the docs in a folder. */
export async function openSources(
  dir: string,
  site: Site,
  names: readonly string[],
  signal: AbortSignal,
): Promise<OpenSources> {
  const opened: OpenSources = { sources: [], indexes: [], notes: [], close: () => undefined };
  const git: GitSource[] = [];
  opened.close = () => {
    for (const source of git) source.close();
  };
  try {
    for (const name of names) {
      const parsed = await parseSource(name);
      const isOutside = await outsideOf(dir, site, parsed.dir);
      const source = (await isRepository(parsed.dir)) ? openGitSource(parsed.dir) : null;
      if (source !== null) git.push(source);
      await openOne(opened, { dir, parsed, source, isOutside, signal });
    }
  } catch (error) {
    opened.close();
    throw error;
  }
  return opened;
}

/** The last `@` may start a revision or be part of the folder's name. */
async function parseSource(name: string): Promise<SourceName> {
  if (await isFolder(name)) return { dir: resolve(name), before: null, after: null };
  const at = name.lastIndexOf("@");
  const [dir, revision] = [name.slice(0, at), name.slice(at + 1)];
  if (at < 1 || !(await isFolder(dir))) {
    throw new CliError(
      "usage",
      `--source: there is no folder ${at < 1 ? name : dir}; name a folder, as DIR, DIR@rev or DIR@old..new`,
    );
  }
  const range = revision.split(/\.{2,3}/);
  if (range.length > 2 || range.some((part) => part === "")) {
    throw new CliError("usage", `--source: "${revision}" is not a revision; write DIR@rev or DIR@old..new`);
  }
  const [before, after] = range.length === 2 ? range : [null, range[0]];
  return { dir: resolve(dir), before: before ?? null, after: after ?? null };
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

async function isRepository(dir: string): Promise<boolean> {
  try {
    await runGit(dir, ["rev-parse", "--git-dir"]);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT")
      throw new CliError("usage", "--source: git is not installed", error);
    return false;
  }
}

/** The docs themselves are not a source: excludes their folder, or only the pages if both are the same folder. */
async function outsideOf(dir: string, site: Site, sourceDir: string): Promise<(path: string) => boolean> {
  const root = join(await realpath(dir), site.root);
  const source = await realpath(sourceDir);
  const inside = relative(source, root);
  if (inside !== "" && !isAbsolute(inside) && inside !== ".." && !inside.startsWith(`..${sep}`)) {
    const prefix = `${inside.split(sep).join("/")}/`;
    return (path) => path.startsWith(prefix);
  }
  const pages = new Set<string>();
  for (const path of site.index.nodes.keys())
    pages.add(
      relative(source, join(await realpath(dir), path))
        .split(sep)
        .join("/"),
    );
  return (path) => pages.has(path);
}

interface OneSource {
  dir: string;
  parsed: SourceName;
  source: GitSource | null;
  isOutside(path: string): boolean;
  signal: AbortSignal;
}

async function openOne(opened: OpenSources, { dir, parsed, source, isOutside, signal }: OneSource): Promise<void> {
  if (source === null) {
    if (parsed.after !== null)
      throw new CliError("usage", `--source: ${parsed.dir} is in no git repository, so it has no revision`);
    opened.indexes.push(await indexSource(folderTree(parsed.dir), { isOutside, signal }));
    opened.notes.push(`${parsed.dir} is in no git repository: its references were not compared with an earlier state.`);
    return;
  }
  const isBare = (await runGit(parsed.dir, ["rev-parse", "--is-bare-repository"])).trim() === "true";
  const named = parsed.after ?? (isBare ? "HEAD" : null);
  const afterCommit = named === null ? null : await findCommit(parsed.dir, named);
  const given = parsed.before === null ? null : await findCommit(parsed.dir, parsed.before);
  const tree = afterCommit === null ? await source.onDisk() : await source.at(afterCommit);
  const after = await indexSource(tree, { isOutside, signal });
  opened.indexes.push(after);
  const until = afterCommit ?? "HEAD";
  const bases = given === null ? await basesOfPages(dir, parsed.dir, until) : null;
  if (given === null && bases === null) {
    opened.notes.push(
      `${dir} has no git history: name the state that the docs agree with, as --source ${parsed.dir}@old..new.`,
    );
    return;
  }
  let latest = after;
  opened.sources.push({
    after,
    ...(given !== null && { base: given }),
    baseOf: async (page) => given ?? (await bases?.(page)) ?? null,
    async before(base) {
      latest = await indexSource(await source.at(base), { previous: latest, isOutside, signal });
      return latest;
    },
    renames: (base) => (afterCommit === null ? source.renames(base, "HEAD") : source.renames(base, afterCommit)),
    causeOf: (base, { gone, paths }) => findCause(parsed.dir, { range: `${base}..${until}`, gone, paths }),
  });
}

async function findCommit(dir: string, revision: string): Promise<string> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const found = await runGit(dir, args).catch(() => {
    throw new CliError(
      "usage",
      `--source: ${dir} has no commit "${revision}". It may be missing from a shallow clone, or removed by a force-push: fetch it, or name another.`,
    );
  });
  return found.trim();
}

/**
 * The source's commit that each page last matched: the commit that last changed the page or, in another repository, the
 * source's last commit at that time. Null if the docs have no history.
 */
async function basesOfPages(
  dir: string,
  sourceDir: string,
  until: string,
): Promise<((page: string) => Promise<string | null>) | null> {
  const commonDir = async (folder: string): Promise<string | null> => {
    const found = await runGit(folder, ["rev-parse", "--git-common-dir"]).catch(() => null);
    return found === null ? null : realpath(resolve(folder, found.trim()));
  };
  const docsRepository = await commonDir(dir);
  if (docsRepository === null) return null;
  const history = await workTree(dir).history?.();
  const head = (await runGit(sourceDir, ["rev-parse", until])).trim();
  const isSame = docsRepository === (await commonDir(sourceDir));
  const known = new Map<string, string>();
  return async (page) => {
    // Uncommitted changes match the current source.
    const commit = history?.get(page)?.commit ?? head;
    if (isSame || commit === head) return commit;
    let base = known.get(commit);
    if (base === undefined) {
      const time = (await runGit(dir, ["show", "-s", "--format=%cI", commit])).trim();
      base = (await runGit(sourceDir, ["rev-list", "-1", "--first-parent", `--before=${time}`, head])).trim();
      known.set(commit, base);
    }
    // The page is older than the source's first commit.
    return base === "" ? null : base;
  };
}

interface Cause {
  range: string;
  gone: string;
  paths: readonly string[];
}

/** The last commit that changed how often the name appears in its files. */
async function findCause(dir: string, { range, gone, paths }: Cause): Promise<string | null> {
  const search = paths.includes(gone) ? ["--diff-filter=DR"] : [`-S${gone}`];
  const args = ["log", "-1", "--format=%h (%an, %s)", ...search, range, "--", ...paths];
  const found = (await runGit(dir, args).catch(() => "")).trim();
  return found === "" ? null : found;
}
