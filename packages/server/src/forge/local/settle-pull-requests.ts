import type { Queryable } from "../../db/pool.ts";
import { compareBranches, isAncestor } from "./compare-branches.ts";
import { type LocalPullRequest, listPullRequests, markMerged, saveCompared } from "./pull-requests.ts";
import { type Repository, tell } from "./repository.ts";

/**
 * Brings open pull requests up to what git holds, after a push or a merge that was cut off: remembers what they
 * compare, keeps the head's commits although its branch may go, and sees which were merged by hand.
 */
export async function settlePullRequests(
  deps: { db: Queryable; repository: Repository },
  projectId: string,
  signal: AbortSignal,
): Promise<void> {
  for (const pullRequest of await listPullRequests(deps.db, projectId)) {
    if (pullRequest.state !== "open") return;
    await settlePullRequest(deps, projectId, pullRequest, signal);
  }
}

export async function settlePullRequest(
  deps: { db: Queryable; repository: Repository },
  projectId: string,
  pullRequest: LocalPullRequest,
  signal: AbortSignal,
): Promise<void> {
  const { db, repository } = deps;
  const { number, baseRef, headRef } = pullRequest;
  const compared = await compareBranches(repository, { base: baseRef, head: headRef }, signal);
  if (!compared || compared.mergeBase === null) return;
  const { baseTip, head, mergeBase } = compared;
  if (mergeBase !== head) {
    await keepHead(repository, number, head, signal);
    await saveCompared(db, projectId, number, { base: mergeBase, head });
    return;
  }
  // A head that was moved back onto the base holds nothing, and was not merged.
  const isMerged = await isAncestor(repository, { ancestor: pullRequest.headCommit, of: baseTip }, signal);
  if (isMerged) await markMerged(db, projectId, number, { commit: null, by: "a push" });
}

/** Pull requests outlive their branches. */
export async function keepHead(
  repository: Repository,
  number: number,
  head: string,
  signal: AbortSignal,
): Promise<void> {
  await tell(repository, ["update-ref", `refs/pull/${number}/head`, head], signal);
}
