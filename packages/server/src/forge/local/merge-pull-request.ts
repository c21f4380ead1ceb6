import type { Queryable } from "../../db/pool.ts";
import { isAncestor } from "./compare-branches.ts";
import { readMergeability } from "./mergeability.ts";
import { getPullRequest, type LocalPullRequest, markMerged, saveCompared } from "./pull-requests.ts";
import { ask, type Repository, tell } from "./repository.ts";

export type MergeOutcome =
  | { kind: "merged" }
  /** In words for whoever asked. */
  | { kind: "refused"; reason: string }
  | { kind: "not_found" };

interface MergeRequest {
  projectId: string;
  number: number;
  /** The commit that was read before the button was pressed; null: whatever is there. */
  headExpected: string | null;
  by: string;
}

/** The base may move while the merge is built: then it is built anew. */
const attemptsMax = 5;
const identity = { "user.name": "Emend", "user.email": "noreply@emend.invalid" };

/**
 * Builds the merge commit without a work tree and moves the base branch from the commit it was built on, or not at
 * all. The row follows; a crash between the two is mended the next time somebody looks (see settle-pull-requests).
 */
export async function mergePullRequest(
  deps: { db: Queryable; repository: Repository },
  request: MergeRequest,
  signal: AbortSignal,
): Promise<MergeOutcome> {
  const { db, repository } = deps;
  const { projectId, number } = request;
  const pullRequest = await getPullRequest(db, projectId, number);
  if (!pullRequest) return { kind: "not_found" };
  if (pullRequest.state === "merged") return { kind: "merged" };
  if (pullRequest.state === "closed") return refuse("This pull request is closed.");
  if (pullRequest.draft) return refuse("This pull request is a draft. Mark it ready first.");

  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const found = await readMergeability(repository, { base: pullRequest.baseRef, head: pullRequest.headRef }, signal);
    if (found.kind === "blocked") return refuse(found.reason);
    if (found.kind === "conflicts") return refuse(`Both sides changed ${found.paths.join(", ")}.`);
    if (request.headExpected !== null && found.head !== request.headExpected) {
      return refuse("The branch changed since you opened this page. Review the new commits, then merge.");
    }
    if (found.kind === "contained") {
      const isMerged = await isAncestor(repository, { ancestor: pullRequest.headCommit, of: found.baseTip }, signal);
      if (!isMerged) return refuse("The branch has no changes.");
      await markMerged(db, projectId, number, { commit: null, by: request.by });
      return { kind: "merged" };
    }
    const commit = await commitMerge(repository, pullRequest, found, signal);
    const moved = await ask(
      repository,
      ["update-ref", `refs/heads/${pullRequest.baseRef}`, commit, found.baseTip],
      signal,
    );
    if (moved.code !== 0) continue;
    await saveCompared(db, projectId, number, { base: found.mergeBase, head: found.head });
    await markMerged(db, projectId, number, { commit, by: request.by });
    return { kind: "merged" };
  }
  return refuse("The base branch keeps changing. Try again in a moment.");
}

async function commitMerge(
  repository: Repository,
  pullRequest: LocalPullRequest,
  merge: { treeId: string; baseTip: string; head: string },
  signal: AbortSignal,
): Promise<string> {
  const message = `Merge pull request #${pullRequest.number} from ${pullRequest.headRef}\n\n${pullRequest.title}`;
  const parents = ["-p", merge.baseTip, "-p", merge.head];
  return tell(repository, ["commit-tree", merge.treeId, ...parents, "-m", message], signal, identity);
}

function refuse(reason: string): MergeOutcome {
  return { kind: "refused", reason };
}
