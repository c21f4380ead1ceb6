import { type Forge, isAtCommit, type PullRequest } from "@emend/forges";
import type { DuePullRequest } from "../jobs/pull-requests.ts";
import type { CommentDeps } from "./comment-deps.ts";

const kinds = { links: "only links changed", typos: "only typos changed" } as const;

/**
 * Merges a change of a kind that the project names: at least one check passed, none is running, failed or unread, and the
 * branch is as the job left it. The forge itself refuses what its rules forbid. The merge names the commit, so it cannot
 * be repeated, and the next poll sees it.
 */
export async function followMerge(
  deps: CommentDeps,
  { jobId, number, merge }: DuePullRequest & { merge: NonNullable<DuePullRequest["merge"]> },
  pull: Pick<PullRequest, "draft" | "headCommit">,
  forge: Pick<Forge, "checks" | "mergePullRequest">,
  signal: AbortSignal,
): Promise<void> {
  const { commit, kind } = merge;
  if (!forge.checks || !forge.mergePullRequest || pull.draft || !isAtCommit(pull, commit)) return;
  const { checks, isWhole } = await forge.checks.report({ commit, pull: number }, signal);
  if (!isWhole || checks.length === 0 || checks.some(({ state }) => state !== "passed")) return;
  // Before the merge: a crash after it would lose the reason.
  await deps.askAnswer({
    jobId,
    to: `merge-${commit}`,
    words: `Emend merges this pull request when it can: ${kinds[kind]}, and all checks passed.`,
  });
  deps.crashPoint?.("before-merge");
  const outcome = await forge.mergePullRequest({ number, commit }, signal);
  if (outcome.kind === "refused") {
    await deps.askAnswer({
      jobId,
      to: `merge-refused-${commit}`,
      words: `Emend cannot merge this now: ${outcome.words}`,
    });
  }
}
