import { AppError, assertNever, isAppError } from "../errors.ts";
import type { CreateOutcome, ForgeCommits, PullRequest, PullRequestDraft, PullRequestSearch } from "../forge/forge.ts";
import { readTemplate } from "../lib/read-template.ts";
import type { PushOutcome } from "../tree/mirror/mirror.ts";
import {
  draftPullRequest,
  listChecks,
  listTouchedFiles,
  movedOf,
  titleOf,
  withoutSecrets,
} from "./draft-pull-request.ts";
import {
  authorOf,
  type CommitIds,
  commitMessage,
  type Publication,
  type PublishDeps,
  type PublishInput,
} from "./publication.ts";
import { followUpBody, hasMarker } from "./pull-request-body.ts";
import { type Answer, pauseAfterUnclear, sendEffect, sendQuestion } from "./retry.ts";

/**
 * Publishes a change exactly once, however often it is called for the same job (idempotent): the commit is the same,
 * the branch is only ever created, and the pull request is looked up before it is created. Retry later if the error is
 * `retryable`; any other error is final.
 */
export async function publishChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication> {
  const done = await findDone(deps, input, signal);
  if (done) return done;
  const ids = await commitChange(deps, input, signal);
  const branch = await ensureBranch(deps, input, ids, signal);
  if (branch.kind === "conflict") {
    return { kind: "branch_conflict", branch: input.job.branch, found: branch.found };
  }
  const published = await ensurePullRequest(deps, input, signal);
  if (published.kind === "found") await updateBody(deps, input, published.pullRequest, signal);
  await ensureDetails(deps, published.pullRequest, signal);
  return { ...published, commitId: branch.commitId };
}

/**
 * An earlier run may have published everything and crashed before it could record that. People may have committed to
 * the branch since, or merged and deleted it. Pushing first would then cause a conflict or restore the branch.
 */
async function findDone(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication | null> {
  if (input.stored === null || input.branchExpected !== null) return null;
  const own = await findOwnPullRequest(deps, searchOf(input), input.job.id, signal);
  if (!own) return null;
  await deps.store.savePush();
  await ensureDetails(deps, own.pullRequest, signal);
  return { ...own, commitId: input.stored.commitId };
}

/**
 * Adds labels and reviewers to the pull request. A missing label or reviewer must not fail a job whose work is
 * published, so this tries once and reports failures as a warning.
 */
async function ensureDetails(deps: PublishDeps, pullRequest: PullRequest, signal: AbortSignal): Promise<void> {
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

/**
 * Builds the commit and stores its ids before any branch points to it. A later run, perhaps on another node with
 * another mirror, builds the same commit with the same ids: everything in it comes from the job.
 */
async function commitChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<CommitIds> {
  deps.crashPoint("before-commit");
  const message = commitMessage(input);
  const built = await deps.mirror.commit(
    {
      jobId: input.job.id,
      base: input.base.commit,
      entries: input.entries,
      message,
      author: authorOf(input.commit),
      date: input.job.createdAt,
    },
    signal,
  );
  const { commits } = deps.forge;
  const ids = commits ? await commitThere(deps, commits, { ...input, ...built, message }, signal) : built;
  deps.crashPoint("after-commit");
  if (input.stored === null) await deps.store.saveCommit(ids);
  deps.crashPoint("after-commit-stored");
  return ids;
}

/** A commit created by the forge has a new id each time. The stored id counts; earlier commits stay unreferenced. */
async function commitThere(
  deps: PublishDeps,
  commits: ForgeCommits,
  input: PublishInput & { treeId: string; message: string },
  signal: AbortSignal,
): Promise<CommitIds> {
  if (input.stored) return input.stored;
  const { treeId, message, entries } = input;
  const commit = { base: input.base.commit, treeId, message, entries };
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendEffect(deps, (request) => commits.create(commit, request), signal);
    if (answer.kind === "answered") return { treeId, commitId: answer.value };
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}

/**
 * Adds the follow-up to the pull request's text. The commits are already pushed, so a failure here does not fail the
 * job. A repeated run adds nothing twice.
 */
async function updateBody(
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

type BranchOutcome = { kind: "holds"; commitId: string } | { kind: "conflict"; found: string | null };

/** Creates or updates the branch with the commit, unless it has commits of somebody else. */
async function ensureBranch(
  deps: PublishDeps,
  input: PublishInput,
  ids: CommitIds,
  signal: AbortSignal,
): Promise<BranchOutcome> {
  const { branch } = input.job;
  const { commits } = deps.forge;
  const wanted = { branch, commit: ids.commitId, expected: input.branchExpected };
  const remote = await deps.forge.gitRemote(signal);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendEffect(
      deps,
      (requestSignal) => {
        deps.crashPoint("before-push");
        return commits
          ? commits.setBranch(wanted, requestSignal)
          : deps.mirror.push({ remote, ...wanted }, requestSignal);
      },
      signal,
    );
    deps.crashPoint("after-push");
    if (answer.kind === "answered") {
      const outcome = await settle(deps, input, ids, answer.value);
      if (outcome.kind === "holds") await deps.store.savePush();
      deps.crashPoint("after-push-stored");
      return outcome;
    }
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}

async function settle(
  deps: PublishDeps,
  input: PublishInput,
  ids: CommitIds,
  outcome: PushOutcome,
): Promise<BranchOutcome> {
  switch (outcome.kind) {
    case "pushed":
      // A stored job gets another commit only if a new release words commit messages differently.
      if (input.stored && input.stored.commitId !== ids.commitId) await deps.store.saveCommit(ids);
      return { kind: "holds", commitId: ids.commitId };
    case "conflict": {
      const isOurs = outcome.found !== null && [ids.commitId, input.stored?.commitId].includes(outcome.found);
      return isOurs && outcome.found
        ? { kind: "holds", commitId: outcome.found }
        : { kind: "conflict", found: outcome.found };
    }
    case "rejected":
      throw new AppError("forge_rejected", { publicMessage: `The forge refused the branch: ${outcome.reason}` });
    default:
      return assertNever(outcome);
  }
}

export interface EnsuredPullRequest {
  kind: "opened" | "found" | "closed" | "merged";
  pullRequest: PullRequest;
}

/**
 * Looks up the pull request before creating it, and again after every response that leaves the outcome open: a request
 * that timed out or got a 502 may have created the pull request.
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

/** Some forges list a pull request only a moment after they refuse a second one. */
function existsButUnlisted(): AppError {
  return new AppError("forge_unavailable", {
    publicMessage: "The forge reports a pull request for this branch but does not list it.",
    retryable: true,
  });
}

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

function searchOf({ job, base }: PublishInput): PullRequestSearch {
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
