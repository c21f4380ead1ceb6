import { commitChange } from "./commit-change.ts";
import { ensureBranch } from "./ensure-branch.ts";
import { ensureDetails } from "./ensure-details.ts";
import { ensurePullRequest } from "./ensure-pull-request.ts";
import { findOwnPullRequest, searchOf } from "./find-pull-request.ts";
import type { Publication, PublishDeps, PublishInput } from "./publication.ts";
import { updateBody } from "./update-body.ts";

/**
 * Publishes a change exactly once, however often it is called for the same job: the same commit, a branch that is
 * only ever created, and a pull request that is looked for before it is made. An error that says `retryable` asks
 * for another call later; any other is the forge's last word.
 */
export async function publishChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication> {
  const done = await findDone(deps, input, signal);
  if (done) return done;
  const ids = await commitChange(deps, input, signal);
  const branch = await ensureBranch(deps, input, ids, signal);
  if (branch.kind === "conflict") {
    return { kind: "branch_conflict", branch: input.job.branch, found: branch.found };
  }
  const published = await ensurePullRequest(deps, input, signal);
  if (published.kind === "found") await updateBody(deps, input, published.pullRequest, signal);
  await ensureDetails(deps, published.pullRequest, signal);
  return { ...published, commitId: branch.commitId };
}

/**
 * An earlier run may have got to the end and died before it could say so. By now people may have built on the
 * branch, or merged and deleted it: to push first would find a conflict, or bring it back.
 */
async function findDone(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication | null> {
  if (input.stored === null || input.branchExpected !== null) return null;
  const own = await findOwnPullRequest(deps, searchOf(input), input.job.id, signal);
  if (!own) return null;
  await deps.store.savePush();
  await ensureDetails(deps, own.pullRequest, signal);
  return { ...own, commitId: input.stored.commitId };
}
