import { assertNever, isFault } from "@emend/base/fault.ts";
import { readTemplate } from "@emend/base/read-template.ts";
import type { ForgeCommits, PullRequest } from "@emend/forges";
import type { PushOutcome } from "@emend/tree";
import { listChecks, listTouchedFiles, movedOf, titleOf, withoutSecrets } from "./draft-pull-request.ts";
import {
  ensurePullRequest,
  findClosedPullRequest,
  findOwnPullRequest,
  isFollowUp,
  searchOf,
} from "./ensure-pull-request.ts";
import { PublishFault } from "./faults.ts";
import {
  authorOf,
  type CommitIds,
  commitMessage,
  type Publication,
  type PublishDeps,
  type PublishInput,
} from "./publication.ts";
import { followUpBody } from "./pull-request-body.ts";
import { pauseAfterUnclear, sendEffect, sendLongEffect, sendQuestion } from "./retry.ts";

/**
 * Publishes a change exactly once, however often it is called for the same job (idempotent): the commit is the same,
 * the branch is only ever created, and the pull request is looked up before it is created. Retry later if the error is
 * `retryable`; any other error is final.
 */
export async function publishChange(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication> {
  const done = await findDone(deps, input, signal);
  if (done) return done;
  const ids = await commitChange(deps, input, signal);
  let branch = await ensureBranch(deps, input, ids, signal);
  if (branch.kind === "conflict" && branch.found === null && isFollowUp(input)) {
    // Forges delete a branch when its pull request is merged.
    const settled = await findClosedPullRequest(deps, input, ids.commitId, signal);
    if (settled && (settled.kind !== "not_open" || !input.continuesClosed)) {
      return settled.kind === "not_open" ? { ...settled, branch: null } : { ...settled, commitId: ids.commitId };
    }
    if (settled) branch = await ensureBranch(deps, { ...input, branchExpected: null }, ids, signal);
  }
  if (branch.kind === "conflict") {
    return { kind: "branch_conflict", branch: input.job.branch, found: branch.found };
  }
  const published = await ensurePullRequest(deps, input, branch.commitId, signal);
  if (published.kind === "not_open") return { ...published, branch: input.job.branch };
  if (published.kind === "found") await updateBody(deps, input, published.pullRequest, signal);
  return { ...published, commitId: branch.commitId };
}

/**
 * An earlier run may have published everything and crashed before it could record that. People may have committed to
 * the branch since, or merged and deleted it. Pushing first would then cause a conflict or restore the branch.
 */
async function findDone(deps: PublishDeps, input: PublishInput, signal: AbortSignal): Promise<Publication | null> {
  if (input.stored === null || isFollowUp(input)) return null;
  const own = await findOwnPullRequest(deps, searchOf(input), input.job.id, signal);
  if (!own) return null;
  await deps.store.savePush();
  return { ...own, commitId: input.stored.commitId };
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
    // Each of its requests has a time limit of its own, and what GitHub has already got is not sent again.
    const answer = await sendLongEffect(deps, (request) => commits.create(commit, request), signal);
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
    const { draft } = now.value ?? pullRequest;
    const body = followUpBody(now.value?.body ?? pullRequest.body, {
      ...input,
      job: await withoutSecrets(input.job),
      template: template?.text ?? null,
      files: await listTouchedFiles(deps, input),
      checks: forge.showsChecks ? [] : checks,
      ...(forge.bodyLengthMax !== undefined && { lengthMax: forge.bodyLengthMax }),
      introduced: input.checks.introduced,
      ...(input.baseConflict.length > 0 && { moved: movedOf(input) }),
    });
    if (body === null) return;
    const title = input.isRetitled ? { text: titleOf(input), draft } : null;
    const change = { body, checks, ...(title && { title }) };
    const answer = await sendEffect(
      deps,
      (request) => forge.updatePullRequest(pullRequest.number, change, request),
      signal,
    );
    if (answer.kind === "unclear") await deps.warn("The pull request's text may not be updated", answer.error);
  } catch (error) {
    if (!isFault(error, "forge_rejected")) throw error;
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
    const answer = await sendLongEffect(
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
      const outcome = await branchOutcomeOf(deps, input, ids, answer.value, signal);
      if (outcome.kind === "holds") await deps.store.savePush();
      deps.crashPoint("after-push-stored");
      return outcome;
    }
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}

async function branchOutcomeOf(
  deps: PublishDeps,
  input: PublishInput,
  ids: CommitIds,
  outcome: PushOutcome,
  signal: AbortSignal,
): Promise<BranchOutcome> {
  switch (outcome.kind) {
    case "pushed":
      // A stored job gets another commit only if a new release words commit messages differently.
      if (input.stored && input.stored.commitId !== ids.commitId) await deps.store.saveCommit(ids);
      return { kind: "holds", commitId: ids.commitId };
    case "conflict":
      return (await findOurs(deps, input, ids, outcome.found, signal)) ?? { kind: "conflict", found: outcome.found };
    case "rejected":
      throw new PublishFault("forge_rejected", { publicMessage: `The forge refused the branch: ${outcome.reason}` });
    default:
      return assertNever(outcome);
  }
}

/**
 * Whose branch it is, is decided by ancestry: an earlier run may have pushed, and people may have added commits. Then
 * the branch has ours, although another one is its tip.
 */
async function findOurs(
  deps: PublishDeps,
  input: PublishInput,
  ids: CommitIds,
  tip: string | null,
  signal: AbortSignal,
): Promise<BranchOutcome | null> {
  if (tip === null) return null;
  const own = new Set([ids.commitId, input.stored?.commitId].filter((id) => id !== undefined));
  if (own.has(tip)) return { kind: "holds", commitId: tip };
  const remote = await deps.forge.gitRemote(signal);
  const refs = [`refs/heads/${input.job.branch}`];
  for (const commit of own) {
    if (await deps.mirror.contains({ remote, refs, commit }, signal)) return { kind: "holds", commitId: commit };
  }
  return null;
}
