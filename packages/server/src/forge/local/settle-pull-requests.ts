import type { Queryable } from "../../db/pool.ts";
import { compareBranches, isAncestor, readTips } from "./compare-branches.ts";
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
  const { number, baseRef, headRef, headCommit } = pullRequest;
  const compared = await compareBranches(repository, { base: baseRef, head: headRef }, signal);
  if (compared?.mergeBase && compared.mergeBase !== compared.head) {
    await keepHead(repository, number, compared.head, signal);
    await saveCompared(db, projectId, number, { base: compared.mergeBase, head: compared.head });
    return;
  }
  // The branch adds nothing to the base, or is gone. Merged is it only if what it held has arrived there.
  const baseTip = (await readTips(repository, [baseRef], signal)).get(baseRef);
  if (!baseTip || !(await isAncestor(repository, { ancestor: headCommit, of: baseTip }, signal))) return;
  await markMerged(db, projectId, number, { commit: null, by: "a push" });
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
