import { gitError } from "../git/git.ts";
import { type BlobReader, unreadable } from "../read/blob-reader.ts";
import { parseFileList } from "../read/diff.ts";
import type { FileMode, OverlayEntry } from "../tree.ts";
import { isObjectId } from "../tree.ts";
import { buildCommit } from "./build-commit.ts";
import { ensureBase, fetchBase } from "./fetch-base.ts";
import type { CommitInput, MovedBase, ProposedHead, Remote } from "./mirror.ts";
import { forkPin, type MirrorContext, movedPin, withStore } from "./mirror-context.ts";
import { resolveBranch } from "./resolve-base.ts";

interface TakeInDeps {
  context: MirrorContext;
  reader: BlobReader;
}

/** Merges a job's edits with what happened on its base branch, file by file (three-way). */
export async function mergeMovedBase(
  deps: TakeInDeps,
  input: { remote: Remote; branch: string; ours: CommitInput },
  signal: AbortSignal,
): Promise<MovedBase> {
  const { context } = deps;
  const { remote, branch, ours } = input;
  const now = await resolveBranch(context.git, { remote, branch }, signal);
  if (now === null || now === ours.base) return { kind: "unmoved" };
  const pins = [movedPin(ours.jobId)];
  const { commit: theirs } = await fetchBase(context, { remote, baseRef: branch, pins }, signal);
  const { commitId } = await buildCommit(context, ours, signal);
  const merged = await mergeTrees(context, { base: ours.base, ours: commitId, theirs }, signal);
  if (merged.paths.length > 0) return { kind: "conflict", base: theirs, paths: merged.paths };
  const entries = await readEntries(deps, theirs, merged.tree, signal);
  const paths = carriedAway(ours.entries, entries);
  return paths.length > 0 ? { kind: "conflict", base: theirs, paths } : { kind: "merged", base: theirs, entries };
}

/** Git lets an edit follow a renamed file. But a change that was reviewed at one path must stay at that path. */
function carriedAway(ours: readonly OverlayEntry[], merged: readonly OverlayEntry[]): readonly string[] {
  const own = new Set(ours.map(({ path }) => path));
  const foreign = merged.map(({ path }) => path).filter((path) => !own.has(path));
  if (foreign.length === 0) return [];
  const kept = new Set(merged.map(({ path }) => path));
  const left = ours.map(({ path }) => path).filter((path) => !kept.has(path));
  return left.length > 0 ? left : foreign;
}

const timeMsMax = 120_000;
const outputBytesMax = 64 * 1024 * 1024;
const mergeConfig = { "merge.directoryRenames": "false" };
const nobody = { "user.name": "Emend", "user.email": "noreply@emend.invalid" };

/** A three-way merge. No branch points at the resulting commit. */
async function mergeTrees(
  context: MirrorContext,
  commits: { base: string; ours: string; theirs: string },
  signal: AbortSignal,
): Promise<{ tree: string; commit: string; paths: readonly string[] }> {
  const { gitDir } = context.place;
  return withStore(context, "shared", signal, async (lockId) => {
    const common = { gitDir, timeMsMax, outputBytesMax, locks: [lockId] };
    const commitOn = async (parent: string, tree: string) => {
      const args = ["commit-tree", "-p", parent, "-m", "moved base", tree];
      return (await context.git.must({ ...common, args, config: nobody }, signal)).toString().trim();
    };
    // A mirror has no history, so commits are made that state the common ancestor.
    const theirs = await commitOn(commits.base, `${commits.theirs}^{tree}`);
    const ours = await commitOn(commits.base, `${commits.ours}^{tree}`);
    const merge = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", theirs, ours];
    const result = await context.git.run({ ...common, args: merge, config: mergeConfig }, signal);
    const [tree = "", ...paths] = result.stdout.toString("utf8").split("\0");
    // 0: clean. 1: conflicts. Anything else is an error.
    if (result.code > 1 || result.cut || !isObjectId(tree)) {
      const what = "The base branch changed and could not be merged.";
      throw gitError("repository_unavailable", { what, words: result.words, retryable: true });
    }
    const commit = await commitOn(commits.theirs, tree);
    return { tree, commit, paths: result.code === 0 ? [] : [...new Set(paths.filter((path) => path !== ""))] };
  });
}

/** The plain files that differ between two trees. */
async function readEntries(
  { context, reader }: { context: MirrorContext; reader: BlobReader },
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly OverlayEntry[]> {
  const changed = await listChanged(context, from, to, signal);
  return Promise.all(
    changed.map(async ({ path, mode, oid }): Promise<OverlayEntry> => {
      if (oid === null) return { path, mode: "100644", content: null };
      const content = await reader.read(oid);
      if (!content) throw unreadable(oid);
      return { path, mode, content };
    }),
  );
}

/** Symbolic links and submodules are left out. */
async function listChanged(
  context: MirrorContext,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly { path: string; mode: FileMode; oid: string | null }[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
  const { gitDir } = context.place;
  const list = await context.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
  return parseFileList(list.toString("utf8")).flatMap<{ path: string; mode: FileMode; oid: string | null }>(
    ({ status, path, mode, oid }) => {
      if (status === "deleted") return [{ path, mode: "100644", oid: null }];
      return mode === "100644" || mode === "100755" ? [{ path, mode, oid }] : [];
    },
  );
}

/** All files that differ between two commits. */
export async function changedPaths(
  context: MirrorContext,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  const { gitDir } = context.place;
  const names = await context.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
  return names
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
}

/**
 * A branch as its reviewer sees it: what merging it would add to the current base branch. If people merged the base
 * branch in, its changes cancel out. If both conflict, it is what the branch changed since they diverged.
 */
export async function proposeHead(
  deps: { context: MirrorContext; reader: BlobReader },
  input: { remote: Remote; jobId: string; fork: string; head: string; branch: string },
  signal: AbortSignal,
): Promise<ProposedHead> {
  const { context } = deps;
  const { remote, jobId, fork, head, branch } = input;
  await ensureBase(context, { remote, commit: fork, pin: forkPin(jobId) }, signal);
  const now = await resolveBranch(context.git, { remote, branch }, signal);
  const asItParted = async (conflict: readonly string[], tip = fork): Promise<ProposedHead> => {
    const entries = await readEntries(deps, fork, head, signal);
    return { base: fork, head, entries, moved: { tip, conflict } };
  };
  if (now === null || now === fork) return asItParted([]);
  const { commit: theirs } = await fetchBase(context, { remote, baseRef: branch, pins: [movedPin(jobId)] }, signal);
  const merged = await mergeTrees(context, { base: fork, ours: head, theirs }, signal);
  if (merged.paths.length > 0) return asItParted(merged.paths, theirs);
  const entries = await readEntries(deps, theirs, merged.commit, signal);
  return { base: theirs, head: merged.commit, entries, moved: { tip: theirs, conflict: [] } };
}
