import type { BlobReader } from "./blob-reader.ts";
import { ensureBase } from "./ensure-base.ts";
import { fetchBase } from "./fetch-base.ts";
import { mergeTrees, readEntries } from "./merge-trees.ts";
import type { ProposedHead, Remote } from "./mirror.ts";
import type { MirrorContext } from "./mirror-context.ts";
import { forkPin, movedPin } from "./pin-names.ts";
import { resolveBranch } from "./resolve-base.ts";

/**
 * A branch as its reviewer sees it: what merging it would bring to the base branch as that is now. Where people took the
 * base branch in, its changes are on both sides and so in neither; where both went another way, it is what the branch
 * changed since it parted.
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
