import type { Queryable } from "../../db/pool.ts";
import { type Mergeability, readMergeability } from "./mergeability.ts";
import { getPullRequest, type LocalPullRequest, settlePullRequest } from "./pull-requests.ts";
import { type PullRequestDiff, readDiff } from "./read-diff.ts";
import type { Repository } from "./repository.ts";

export interface PullState {
  pullRequest: LocalPullRequest;
  mergeability: Mergeability;
  diff: PullRequestDiff;
}

/** A pull request in its current state. Null if it does not exist. */
export async function readPullView(
  deps: { db: Queryable; repository: Repository },
  projectId: string,
  number: number,
  signal: AbortSignal,
): Promise<PullState | null> {
  const { db, repository } = deps;
  const stored = await getPullRequest(db, projectId, number);
  if (!stored) return null;
  if (stored.state === "open") await settlePullRequest(deps, projectId, stored, signal);
  const pullRequest = (await getPullRequest(db, projectId, number)) ?? stored;
  const branches = { base: pullRequest.baseRef, head: pullRequest.headRef };
  const mergeability = await readMergeability(repository, branches, signal);
  const diff = await readDiff(repository, { base: pullRequest.baseCommit, head: pullRequest.headCommit }, signal);
  return { pullRequest, mergeability, diff };
}
