import { createHash } from "node:crypto";
import type { Forge, OpenPullRequest, PullRequestCommits } from "@emend/forges";
import { indexSource, type SourceIndex } from "@emend/site";
import { type CommitTree, type Mirrors, type Remote, siteTreeOf } from "@emend/tree";
import type { ContextRepository } from "../accounts/projects/context-repositories.ts";
import type { Project } from "../accounts/projects/projects.ts";
import { rememberIndex } from "../claims/compare-references-of-code.ts";
import type { Pool } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { findDocsJob, type GateSubject } from "./gate-store.ts";

/** What the trees that a status compares are read with. */
export interface TreeDeps {
  pool: Pool;
  mirrors: Mirrors;
  /** Opened once, for a check that is repeated. */
  openForge(project: Project): Promise<Forge>;
}

/** What the project's other sources are read with. */
export interface OtherDeps extends Pick<TreeDeps, "mirrors"> {
  /** Indexes that outlive a check, by mirror. */
  indexes: Map<string, SourceIndex>;
  listContext(projectId: string): Promise<readonly ContextRepository[]>;
  contextRemote(repositoryId: string, projectId: string, signal: AbortSignal): Promise<Remote>;
}

/** The project's other sources. */
export interface OtherSources {
  indexes: readonly SourceIndex[];
  /** The names of those that cannot be read now. Nobody knows what they contain. */
  unread: readonly string[];
}

/** The newest state of the project's other sources: its context repositories, and code beside the docs folder. */
export async function indexOthers(
  deps: OtherDeps,
  { project, watched, docsAt }: { project: Project; watched: GateSubject; docsAt: DocsAt },
  signal: AbortSignal,
): Promise<OtherSources> {
  const { indexes } = deps;
  const found: SourceIndex[] = [];
  const unread: string[] = [];
  async function add(
    { key, name }: { key: string; name: string },
    isOutside: (path: string) => boolean,
    open: () => Promise<CommitTree>,
  ) {
    try {
      const previous = indexes.get(key);
      const options = { isOutside, signal, ...(previous && { previous }) };
      const index = await indexSource(siteTreeOf(await open()), options);
      rememberIndex(indexes, key, index);
      found.push(index);
    } catch (error) {
      signal.throwIfAborted();
      if (!isAppError(error)) throw error;
      unread.push(name);
    }
  }
  const folder = folderOf(project.docsDir);
  if (watched.contextId !== null && folder !== "") {
    await add(
      { key: project.id, name: "the code beside the docs" },
      (path) => path.startsWith(`${folder}/`),
      () => docsAt(null),
    );
  }
  for (const { id, name, baseRef } of await deps.listContext(project.id)) {
    if (id === watched.contextId) continue;
    await add(
      { key: id, name },
      () => false,
      async () => newestTree(deps, id, { remote: await deps.contextRemote(id, project.id, signal), baseRef }, signal),
    );
  }
  return { indexes: found, unread };
}

/** The newest commit of a branch. */
async function newestTree(
  { mirrors }: Pick<TreeDeps, "mirrors">,
  mirrorId: string,
  from: { remote: Remote; baseRef: string | null },
  signal: AbortSignal,
): Promise<CommitTree> {
  const mirror = await mirrors.open(mirrorId);
  const pin = `gate-${mirrorId}`;
  const { commit } = await mirror.fetchBase({ ...from, jobId: pin }, signal);
  // Garbage collection skips objects that are this new.
  await mirror.release(pin);
  return mirror.treeAt(commit);
}

/** The docs folder's path. Empty: the whole repository. */
export function folderOf(docsDir: string): string {
  const folder = docsDir.replace(/^(?:\.?\/)+|\/+$/g, "");
  return folder === "." ? "" : folder;
}

/** The newest commit of a docs branch. Null: the base branch. */
export type DocsAt = (branch: string | null) => Promise<CommitTree>;

/** Resolves each branch once per check. */
export function docsReader(deps: TreeDeps, project: Project, signal: AbortSignal): DocsAt {
  const trees = new Map<string | null, Promise<CommitTree>>();
  async function read(branch: string | null): Promise<CommitTree> {
    const remote = await (await deps.openForge(project)).gitRemote(signal);
    return newestTree(deps, project.id, { remote, baseRef: branch ?? project.baseRef }, signal);
  }
  return (branch) => {
    const known = trees.get(branch) ?? read(branch);
    trees.set(branch, known);
    return known;
  };
}

/** The docs that a source change is compared with: the base branch, or the pull request that updates it. */
export interface DocsState {
  /** `base`: its settings and silencers count. Null: the pull request changes the docs themselves. */
  trees: { docs: CommitTree; base: CommitTree } | null;
  /**
   * Of a pull request that changes the docs themselves: the newest commits of the branches that it wants to change. Their
   * settings count, not those of an old commit that its author chose to start from.
   */
  targets: ReadonlyMap<string, CommitTree>;
  /** The open pull request of the job that fixes the docs for it. */
  pull: number | null;
  /** That job failed. */
  hasFailed: boolean;
}

export async function docsFor(
  deps: Pick<TreeDeps, "pool">,
  { watched, docsAt }: { watched: GateSubject; docsAt: DocsAt },
  { number, bases }: { number: number; bases: readonly string[] },
): Promise<DocsState> {
  if (watched.contextId === null) {
    const targets = new Map<string, CommitTree>();
    for (const base of bases) targets.set(base, await docsAt(base));
    return { trees: null, targets, pull: null, hasFailed: false };
  }
  const { pull, hasFailed } = await findDocsJob(deps.pool, watched, number);
  const base = await docsAt(null);
  const trees = { docs: pull ? await docsAt(pull.branch) : base, base };
  return { trees, targets: new Map(), pull: pull?.number ?? null, hasFailed };
}

const settingsFiles = /^(?:\.emend\/.*|[._]?vale\.ini)$/;

/** Changes with the files that set the checks. */
export async function markOfSettings({ targets }: DocsState): Promise<string> {
  const hash = createHash("sha256");
  for (const [branch, tree] of targets) {
    hash.update(`${branch}\n`);
    for (const [path, { oid }] of (await tree.index()).entries)
      if (settingsFiles.test(path)) hash.update(`${path} ${oid}\n`);
  }
  return targets.size === 0 ? "" : hash.digest("base64url");
}

interface ComparedCommits extends PullRequestCommits {
  branch: string;
}
export type Compared = readonly [ComparedCommits, ...ComparedCommits[]];

/** What each pull request compares, and the branch that it wants to change. Null: the forge does not say so of one. */
export async function readCommits(
  forge: Forge,
  pulls: readonly OpenPullRequest[],
  signal: AbortSignal,
): Promise<Compared | null> {
  const found: ComparedCommits[] = [];
  for (const pull of pulls) {
    const commits = await forge.readPullRequestCommits(pull, signal);
    if (!commits) return null;
    // It was pushed to meanwhile: the next look sees one state of all.
    if (found[0] && found[0].head !== commits.head) return null;
    found.push({ ...commits, branch: pull.base });
  }
  const [first, ...others] = found;
  return first ? [first, ...others] : null;
}

const patchBytesMax = 2 * 2 ** 20;

/** Pins both commits while they are read, as for a job. */
export async function withTrees<T>(
  deps: Pick<TreeDeps, "mirrors">,
  { mirrorId, remote }: { mirrorId: string; remote: Remote },
  id: string,
  commits: { head: string; base: string },
  signal: AbortSignal,
  work: (before: CommitTree, after: CommitTree, patch: () => Promise<string>) => Promise<T>,
): Promise<T> {
  const mirror = await deps.mirrors.open(mirrorId);
  const pins = [`${id}-base`, `${id}-head`] as const;
  try {
    await mirror.ensureBase({ remote, jobId: pins[0], commit: commits.base }, signal);
    await mirror.ensureBase({ remote, jobId: pins[1], commit: commits.head }, signal);
    const range = { from: commits.base, to: commits.head, bytesMax: patchBytesMax };
    const patch = async () => (await mirror.diff(range, signal)).patch.toString();
    return await work(mirror.treeAt(commits.base), mirror.treeAt(commits.head), patch);
  } finally {
    for (const pin of pins) await mirror.release(pin);
  }
}
