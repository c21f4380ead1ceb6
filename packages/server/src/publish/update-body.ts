import { isAppError } from "../errors.ts";
import type { PullRequest } from "../forge/forge.ts";
import { readTemplate } from "../lib/read-template.ts";
import { listChecks, listTouchedFiles, movedOf, titleOf, withoutSecrets } from "./draft-pull-request.ts";
import type { PublishDeps, PublishInput } from "./publication.ts";
import { followUpBody } from "./pull-request-body.ts";
import { sendEffect, sendQuestion } from "./send-effect.ts";

/**
 * Tells a follow-up in the pull request that it went to. The commits are there by then, so words that do not get
 * through are no reason to fail; a run that is repeated says nothing twice.
 */
export async function updateBody(
  deps: PublishDeps,
  input: PublishInput,
  pullRequest: PullRequest,
  signal: AbortSignal,
): Promise<void> {
  if (input.job.followUps.length === 0 || pullRequest.state !== "open") return;
  const { forge } = deps;
  try {
    const now = await sendQuestion(deps, (request) => forge.readPullRequest(pullRequest.number, request), signal);
    if (now.kind === "unclear") return deps.warn("The pull request's text is not updated", now.error);
    const checks = listChecks(input.checks);
    const template = await readTemplate(deps.mirror.treeAt(input.base.commit));
    const body = followUpBody(now.value?.body ?? pullRequest.body, {
      ...input,
      job: await withoutSecrets(input.job),
      template: template?.text ?? null,
      files: await listTouchedFiles(deps, input),
      checks: forge.showsChecks ? [] : checks,
      introduced: input.checks.introduced,
      ...(input.baseConflict.length > 0 && { moved: movedOf(input) }),
    });
    if (body === null) return;
    const { draft } = now.value ?? pullRequest;
    const title = input.isRetitled ? { text: titleOf(input), draft } : null;
    const change = { body, checks, ...(title && { title }) };
    const answer = await sendEffect(
      deps,
      (request) => forge.updatePullRequest(pullRequest.number, change, request),
      signal,
    );
    if (answer.kind === "unclear") await deps.warn("The pull request's text may not be updated", answer.error);
  } catch (error) {
    if (!isAppError(error, "forge_rejected")) throw error;
    await deps.warn("The pull request's text is not updated", error);
  }
}
