import { type Forge, isAtCommit, type PullRequest } from "@emend/forges";
import type { Mirrors } from "@emend/tree";
import type { DuePullRequest } from "../jobs/pull-requests.ts";

const rememberedMax = 10_000;

/**
 * Whether the base branch has changed the same lines, by merging both, where the forge only names the commits. Only while
 * the branch is as the job left it: what people merged into it is their matter. Each two commits are merged once.
 */
export function createConflictFinder({ mirrors }: { mirrors: Mirrors }) {
  const remembered = new Map<string, { commits: string; hasConflicts: boolean }>();

  return async function findConflicts(
    { jobId, projectId, published }: Pick<DuePullRequest, "jobId" | "projectId" | "published">,
    pull: PullRequest,
    forge: Pick<Forge, "gitRemote">,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!published?.base || !isAtCommit(pull, published.commit)) return false;
    const { base: branch, baseCommit = "" } = pull;
    const { commit: head, base: fork } = published;
    if (baseCommit === "" || fork.startsWith(baseCommit)) return false;
    const commits = `${head} ${baseCommit}`;
    const known = remembered.get(jobId);
    if (known?.commits === commits) return known.hasConflicts;
    const mirror = await mirrors.open(projectId);
    const remote = await forge.gitRemote(signal);
    // Not the job's own pins, which a new round may need.
    const pin = `conflicts_${jobId}`;
    try {
      await mirror.ensureBase({ remote, jobId: pin, commit: head }, signal);
      const { moved } = await mirror.propose({ remote, jobId: pin, fork, head, branch }, signal);
      const hasConflicts = moved.conflict.length > 0;
      if (remembered.size >= rememberedMax) remembered.clear();
      remembered.set(jobId, { commits, hasConflicts });
      return hasConflicts;
    } finally {
      await mirror.release(pin);
    }
  };
}
