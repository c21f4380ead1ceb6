import { authorOf, commitMessage } from "./commit-message.ts";
import type { CommitIds, PublishDeps, PublishInput } from "./publication.ts";

/**
 * Builds the commit and stores its ids before anything leaves this machine. A later run builds it anew, perhaps on
 * a node whose mirror never held it, and gets the same ids: everything in the commit comes from the job.
 */
export async function commitChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<CommitIds> {
  deps.crashPoint("before-commit");
  const ids = await deps.mirror.commit(
    {
      jobId: input.job.id,
      base: input.base.commit,
      entries: input.entries,
      message: commitMessage(input),
      author: authorOf(input.commit),
      date: input.job.createdAt,
    },
    signal,
  );
  deps.crashPoint("after-commit");
  if (input.stored === null) await deps.store.saveCommit(ids);
  deps.crashPoint("after-commit-stored");
  return ids;
}
