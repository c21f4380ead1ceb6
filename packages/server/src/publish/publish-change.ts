import { commitChange } from "./commit-change.ts";
import { ensureBranch } from "./ensure-branch.ts";
import { ensurePullRequest } from "./ensure-pull-request.ts";
import { findOwnPullRequest } from "./find-pull-request.ts";
import type { Publication, PublishDeps, PublishInput } from "./publication.ts";

/**
 * Publishes a change exactly once, however often it is called for the same job: the same commit, a branch that is
 * only ever created, and a pull request that is looked for before it is made. An error that says `retryable` asks
 * for another call later; any other is the forge's last word.
 */
export async function publishChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication> {
  const ids = await commitChange(deps, input, signal);
  const branch = await ensureBranch(deps, input, ids, signal);
  if (branch.kind === "conflict") {
    // Somebody may have built on a branch whose pull request an earlier run had opened: then all is done.
    const own = await findOwnPullRequest(deps, input.job, signal);
    if (own) return { ...own, commitId: ids.commitId };
    return { kind: "branch_conflict", branch: input.job.branch, found: branch.found };
  }
  const published = await ensurePullRequest(deps, input, signal);
  return { ...published, commitId: branch.commitId };
}
