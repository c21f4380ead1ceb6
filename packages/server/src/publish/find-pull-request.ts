import type { PullRequest } from "../forge/forge.ts";
import type { PublishDeps } from "./publication.ts";
import { hasMarker } from "./pull-request-body.ts";
import { pauseAfterUnclear } from "./retry.ts";
import { sendQuestion } from "./send-effect.ts";

export interface FoundPullRequest {
  kind: "found" | "closed" | "merged";
  pullRequest: PullRequest;
}

/** The branch's open pull request, else its newest: a person's decision to close or merge is reported, never undone. */
export function pickPullRequest(pullRequests: readonly PullRequest[]): FoundPullRequest | null {
  const pullRequest = pullRequests.find((candidate) => candidate.state === "open") ?? pullRequests[0];
  if (!pullRequest) return null;
  return { kind: pullRequest.state === "open" ? "found" : pullRequest.state, pullRequest };
}

/** The pull request that an earlier run of this job opened, known by its marker. */
export async function findOwnPullRequest(
  deps: PublishDeps,
  job: { id: string; branch: string },
  signal: AbortSignal,
): Promise<FoundPullRequest | null> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendQuestion(deps, (request) => deps.forge.findPullRequests(job.branch, request), signal);
    if (answer.kind === "answered") return pickPullRequest(answer.value.filter(({ body }) => hasMarker(body, job.id)));
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}
