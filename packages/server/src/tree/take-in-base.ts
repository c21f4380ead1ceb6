import type { BlobReader } from "./blob-reader.ts";
import { buildCommit } from "./build-commit.ts";
import { fetchBase } from "./fetch-base.ts";
import { mergeTrees, readEntries } from "./merge-trees.ts";
import type { CommitInput, MovedBase, Remote } from "./mirror.ts";
import type { MirrorContext } from "./mirror-context.ts";
import { movedPin } from "./pin-names.ts";
import { resolveBranch } from "./resolve-base.ts";
import type { OverlayEntry } from "./tree.ts";

interface TakeInDeps {
  context: MirrorContext;
  reader: BlobReader;
}

/** A three-way merge a file between a job's edits and what happened on its base branch meanwhile. */
export async function takeInBase(
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

/** Git lets an edit follow a file that was renamed there; but what was judged at one path stays at that path. */
function carriedAway(ours: readonly OverlayEntry[], merged: readonly OverlayEntry[]): readonly string[] {
  const own = new Set(ours.map(({ path }) => path));
  const foreign = merged.map(({ path }) => path).filter((path) => !own.has(path));
  if (foreign.length === 0) return [];
  const kept = new Set(merged.map(({ path }) => path));
  const left = ours.map(({ path }) => path).filter((path) => !kept.has(path));
  return left.length > 0 ? left : foreign;
}
