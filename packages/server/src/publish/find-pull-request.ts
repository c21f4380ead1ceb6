import type { PullRequest, PullRequestSearch } from "../forge/forge.ts";
import type { PublishDeps, PublishInput } from "./publication.ts";
import { hasMarker } from "./pull-request-body.ts";
import { pauseAfterUnclear, sendQuestion } from "./retry.ts";

export interface FoundPullRequest {
  kind: "found" | "closed" | "merged";
  pullRequest: PullRequest;
}

/**
 * The branch's open pull request, or else its newest. If a person closed or merged it, that is reported and never
 * undone.
 */
export function pickPullRequest(pullRequests: readonly PullRequest[]): FoundPullRequest | null {
  const pullRequest = pullRequests.find((candidate) => candidate.state === "open") ?? pullRequests[0];
  if (!pullRequest) return null;
  return { kind: pullRequest.state === "open" ? "found" : pullRequest.state, pullRequest };
}

/** A job's pull request is created after the job. Allows for clocks that differ by hours. */
const clockSkewMs = 86_400_000;

export function sinceOf(createdAt: Date): Date {
  return new Date(createdAt.getTime() - clockSkewMs);
}

export function searchOf({ job, base }: PublishInput): PullRequestSearch {
  return { head: job.branch, base: base.ref, since: sinceOf(job.createdAt) };
}

/** The one of a branch's pull requests that the job opened. */
export function findMarked(listed: readonly PullRequest[], jobId: string): FoundPullRequest | null {
  return pickPullRequest(listed.filter(({ body }) => hasMarker(body, jobId)));
}

/** The pull request that an earlier run of this job opened, recognized by its marker. */
export async function findOwnPullRequest(
  deps: PublishDeps,
  search: PullRequestSearch,
  jobId: string,
  signal: AbortSignal,
): Promise<FoundPullRequest | null> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendQuestion(deps, (request) => deps.forge.findPullRequests(search, request), signal);
    if (answer.kind === "answered") return findMarked(answer.value, jobId);
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}
