import { isAppError } from "../errors.ts";
import type { PullRequest } from "../forge/forge.ts";
import type { PublishDeps } from "./publication.ts";
import { sendEffect } from "./send-effect.ts";

/**
 * Labels and reviewers, once the pull request is there. A label that nobody made or a reviewer who left is no reason
 * to fail a job whose work is published, so one try is made and what came of it is told.
 */
export async function ensureDetails(deps: PublishDeps, pullRequest: PullRequest, signal: AbortSignal): Promise<void> {
  const { ensureDetails: ensure } = deps.forge;
  deps.crashPoint("before-details");
  if (ensure !== null && pullRequest.state === "open") {
    try {
      const answer = await sendEffect(deps, (request) => ensure(pullRequest.number, request), signal);
      if (answer.kind === "unclear") await deps.warn("Labels or reviewers may not be set", answer.error);
    } catch (error) {
      if (!isAppError(error, "forge_rejected")) throw error;
      await deps.warn("Labels or reviewers are not set", error);
    }
  }
  deps.crashPoint("after-details");
}
