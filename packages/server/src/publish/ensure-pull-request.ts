import { AppError } from "../errors.ts";
import type { CreateOutcome, PullRequest, PullRequestDraft } from "../forge/forge.ts";
import { draftPullRequest } from "./draft-pull-request.ts";
import { pickPullRequest, searchOf } from "./find-pull-request.ts";
import type { PublishDeps, PublishInput } from "./publication.ts";
import { pauseAfterUnclear } from "./retry.ts";
import { type Answer, sendEffect, sendQuestion } from "./send-effect.ts";

export interface EnsuredPullRequest {
  kind: "opened" | "found" | "closed" | "merged";
  pullRequest: PullRequest;
}

/**
 * Looks before it creates, and looks again after every answer that does not say plainly what happened: a request
 * that timed out, or a 502 on the way back, may well have made the pull request.
 */
export async function ensurePullRequest(
  deps: PublishDeps,
  input: PublishInput,
  signal: AbortSignal,
): Promise<EnsuredPullRequest> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await findOrCreate(deps, input, signal);
    if (result.kind !== "unclear") return result;
    await pauseAfterUnclear(attempt, result.error, signal);
  }
}

async function findOrCreate(
  deps: PublishDeps,
  input: PublishInput,
  signal: AbortSignal,
): Promise<EnsuredPullRequest | { kind: "unclear"; error: unknown }> {
  deps.crashPoint("before-find");
  const search = searchOf(input);
  const listed = await sendQuestion(deps, (request) => deps.forge.findPullRequests(search, request), signal);
  if (listed.kind === "unclear") return listed;
  deps.crashPoint("after-find");
  const found = pickPullRequest(listed.value);
  if (found) return found;

  const created = await create(deps, await draftPullRequest(deps, input), signal);
  const settled =
    created.kind === "answered" && created.value.kind === "drafts_unsupported"
      ? await create(deps, await draftPullRequest(deps, { ...input, draftsSupported: false }), signal)
      : created;
  if (settled.kind === "unclear") return settled;
  if (settled.value.kind === "created") return { kind: "opened", pullRequest: settled.value.pullRequest };
  return { kind: "unclear", error: existsButUnlisted() };
}

async function create(deps: PublishDeps, draft: PullRequestDraft, signal: AbortSignal): Promise<Answer<CreateOutcome>> {
  const created = await sendEffect(
    deps,
    (request) => {
      deps.crashPoint("before-create");
      return deps.forge.createPullRequest(draft, request);
    },
    signal,
  );
  deps.crashPoint("after-create");
  return created;
}

/** Some forges list a pull request a moment after they refuse a second one. */
function existsButUnlisted(): AppError {
  return new AppError("forge_unavailable", {
    publicMessage: "The forge reports a pull request for this branch but does not list it.",
    retryable: true,
  });
}
