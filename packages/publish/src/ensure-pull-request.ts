import { setTimeout as sleep } from "node:timers/promises";
import { isFault } from "@emend/base/fault.ts";
import type { CreateOutcome, PullRequest, PullRequestSearch } from "@emend/forges";
import { draftPullRequest } from "./draft-pull-request.ts";
import { PublishFault } from "./faults.ts";
import type { PublishDeps, PublishInput } from "./publication.ts";
import { hasMarker } from "./pull-request-body.ts";
import { type Answer, isStoppedWaiting, pauseAfterUnclear, secondsMs, sendEffect, sendQuestion } from "./retry.ts";

export type EnsuredPullRequest =
  | { kind: "opened" | "found" | "closed" | "merged"; pullRequest: PullRequest }
  /** A person merged or closed it before a follow-up's commit arrived. */
  | { kind: "not_open"; pullRequest: PullRequest };

/** After an answer that leaves it open, the request may have been delayed on its way. */
const graceSeconds = 30;
/** How often Emend looks for a pull request that may still appear. */
const lookSeconds = 15;
const looksMax = 4;
const firstLookMs = 200;

/**
 * Looks up the pull request before creating it, and again after every response that leaves the outcome open. A forge's
 * create is not atomic: it checks, works and inserts. So a second request is sent only when the first can no longer take
 * effect. That time is stored with the job, because the next run may be in another process.
 */
export async function ensurePullRequest(
  deps: PublishDeps,
  input: PublishInput,
  commitId: string,
  signal: AbortSignal,
): Promise<EnsuredPullRequest> {
  let sent: { untilMs: number; error?: unknown } | null =
    input.createLeftMs === null ? null : { untilMs: performance.now() + input.createLeftMs };
  for (let attempt = 1; ; attempt += 1) {
    deps.crashPoint("before-find");
    const listed = await sendQuestion(deps, (request) => deps.forge.findPullRequests(searchOf(input), request), signal);
    if (listed.kind === "unclear") {
      await pauseAfterUnclear(attempt, listed.error, signal);
      continue;
    }
    deps.crashPoint("after-find");
    const found = await decideOn(deps, input, listed.value, commitId, signal);
    if (found && found.kind !== "not_open") {
      if (isStoppedWaiting(sent?.error)) await deps.warn("The pull request was opened late", sent?.error);
      return sent ? keepOldest(deps, input, found, signal) : found;
    }
    if (found && !input.continuesClosed) return found;

    const leftMs = sent ? sent.untilMs - performance.now() : 0;
    if (sent && leftMs > 0) {
      await lookLater(deps, attempt, { leftMs, error: sent.error }, signal);
      continue;
    }
    if (sent && !input.mayRepeatCreate) throw neverAppeared(sent.error);

    const created = await create(deps, found ? { ...input, continues: found.pullRequest } : input, signal);
    if (created.kind === "answered" && created.value.kind === "created") {
      if (found) await deps.warn(`${sayNotOpen(found.pullRequest)} Emend opened a new one`);
      const opened = { kind: "opened", pullRequest: created.value.pullRequest } as const;
      return sent ? keepOldest(deps, input, opened, signal) : opened;
    }
    const error = created.kind === "unclear" ? created.error : existsButUnlisted();
    const mayHappen = created.kind === "unclear" && !(isFault(error) && error.isWithoutEffect);
    sent = mayHappen ? await markUnclear(deps, created.sentAtMs, error) : null;
    if (sent) await lookLater(deps, attempt, { leftMs: sent.untilMs - performance.now(), error }, signal);
    else await pauseAfterUnclear(attempt, error, signal);
  }
}

/** The words for a pull request that a person merged or closed. */
export function sayNotOpen({ number, state }: Pick<PullRequest, "number" | "state">): string {
  return `Pull request ${number} was ${state} before this follow-up was published.`;
}

type Sent<T> = Answer<T> & { sentAtMs: number };

async function create(
  deps: PublishDeps,
  input: PublishInput,
  signal: AbortSignal,
  draftsSupported?: false,
): Promise<Sent<CreateOutcome>> {
  const { forge, store } = deps;
  const draft = await draftPullRequest(deps, { ...input, ...(draftsSupported === false && { draftsSupported }) });
  const effectMs = secondsMs(deps, forge.effectSecondsMax);
  let sentAtMs = 0;
  const send = (request: AbortSignal) => {
    deps.crashPoint("before-create");
    sentAtMs = performance.now();
    return forge.createPullRequest(draft, request);
  };
  const mark = async () => {
    if (effectMs > 0) await store.saveCreate(effectMs);
  };
  const clear = async () => {
    if (effectMs > 0) await store.saveCreate(null);
  };
  let created: Answer<CreateOutcome>;
  try {
    created = await sendEffect(deps, send, signal, mark);
  } catch (error) {
    // A refusal is certain: a retry of the job need not wait for anything.
    if (isFault(error, "forge_rejected")) await clear();
    throw error;
  }
  deps.crashPoint("after-create");
  if (created.kind === "unclear") {
    if (isFault(created.error) && created.error.isWithoutEffect) await clear();
    return { ...created, sentAtMs };
  }
  // The one that exists may be the work of a proxy that repeats requests, and more may follow.
  if (created.value.kind !== "drafts_unsupported") return { ...created, sentAtMs };
  await clear();
  return create(deps, input, signal, false);
}

/** Stores until when the request may take effect: the forge's own limit, and some time for a slow way there. */
async function markUnclear(deps: PublishDeps, sentAtMs: number, error: unknown) {
  const effectMs = secondsMs(deps, deps.forge.effectSecondsMax);
  // The local forge's create is one transaction.
  if (effectMs === 0) return null;
  const nowMs = performance.now();
  const untilMs = Math.max(sentAtMs + effectMs, nowMs + secondsMs(deps, graceSeconds));
  await deps.store.saveCreate(untilMs - nowMs);
  return { untilMs, error };
}

/** A few looks right away. Then the run gives its lease back, and later runs go on looking. */
async function lookLater(
  deps: PublishDeps,
  attempt: number,
  { leftMs, error }: { leftMs: number; error?: unknown },
  signal: AbortSignal,
): Promise<void> {
  const askedMs = isFault(error) ? (error.retryAfterMs ?? 0) : 0;
  const pauseMs = firstLookMs * 2 ** (attempt - 1);
  if (attempt < looksMax && askedMs <= pauseMs) {
    await sleep(Math.min(pauseMs, leftMs), undefined, { signal });
    return;
  }
  const seconds = Math.ceil(leftMs / secondsMs(deps, 1));
  throw new PublishFault("forge_unavailable", {
    publicMessage: `${wordsOf(error)} Emend looks for the pull request for ${seconds} s before it sends the request again.`,
    retryable: true,
    retryAfterMs: Math.max(askedMs, Math.min(leftMs, secondsMs(deps, lookSeconds))),
    isPending: true,
    cause: error,
  });
}

function wordsOf(error: unknown): string {
  return isFault(error) ? error.publicMessage : "The forge did not say whether it opened the pull request.";
}

function neverAppeared(error: unknown): PublishFault {
  return new PublishFault("forge_unavailable", {
    publicMessage: `${wordsOf(error)} No pull request appeared.`,
    retryable: true,
    cause: error,
  });
}

/** Some forges list a pull request only a moment after they refuse a second one. */
function existsButUnlisted(): PublishFault {
  return new PublishFault("forge_unavailable", {
    publicMessage: "The forge reports a pull request for this branch but does not list it.",
    retryable: true,
  });
}

/**
 * After an unclear create there may be two pull requests after all. The oldest stays open: people have seen it first.
 * Only those with this job's marker are closed.
 */
async function keepOldest<T extends { pullRequest: PullRequest }>(
  deps: PublishDeps,
  input: PublishInput,
  ensured: T,
  signal: AbortSignal,
): Promise<T> {
  // Without the base branch, every forge lists all of them.
  const { base: _, ...search } = searchOf(input);
  const listed = await sendQuestion(deps, (request) => deps.forge.findPullRequests(search, request), signal);
  if (listed.kind === "unclear") {
    await deps.warn("Emend could not check whether the forge opened a second pull request", listed.error);
    return ensured;
  }
  const [kept, ...younger] = openWithMarker(listed.value, input.job.id);
  for (const { number } of younger) {
    const closed = await sendEffect(deps, (request) => deps.forge.closePullRequest(number, request), signal);
    if (closed.kind === "answered") await deps.warn(sayTwins(kept?.number, number, "closed"));
    else await deps.warn(sayTwins(kept?.number, number, "could not close"), closed.error);
  }
  return younger.length > 0 && kept ? { ...ensured, pullRequest: kept } : ensured;
}

/** A job's open pull requests, the oldest first. */
export function openWithMarker(listed: readonly PullRequest[], jobId: string): readonly PullRequest[] {
  return listed
    .filter(({ state, body }) => state === "open" && hasMarker(body, jobId))
    .sort((left, right) => left.number - right.number);
}

export function sayTwins(kept: number | undefined, second: number, done: "closed" | "could not close"): string {
  return `The forge opened two pull requests for this job: ${kept} and ${second}. Emend ${done} ${second}`;
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

export function isFollowUp(input: PublishInput): boolean {
  return input.branchExpected !== null;
}

/**
 * A follow-up's commit may be on the branch of a pull request that was merged or closed before. Only ancestry tells
 * whether the pull request has it.
 */
async function decideOn(
  deps: PublishDeps,
  input: PublishInput,
  listed: readonly PullRequest[],
  commitId: string,
  signal: AbortSignal,
): Promise<FoundPullRequest | Extract<EnsuredPullRequest, { kind: "not_open" }> | null> {
  const picked = pickPullRequest(listed);
  if (!picked || picked.kind === "found" || !isFollowUp(input)) return picked;
  const { number, base } = picked.pullRequest;
  const refs = [deps.forge.pullRef?.(number), `refs/heads/${base}`].filter((ref) => ref !== undefined);
  const remote = await deps.forge.gitRemote(signal);
  const isIn = await deps.mirror.contains({ remote, refs, commit: commitId }, signal);
  return isIn ? picked : { kind: "not_open", pullRequest: picked.pullRequest };
}

/** What became of a follow-up's pull request. Null: it is open, or there is none. */
export async function findClosedPullRequest(
  deps: PublishDeps,
  input: PublishInput,
  commitId: string,
  signal: AbortSignal,
): Promise<EnsuredPullRequest | null> {
  const listed = await list(deps, searchOf(input), signal);
  const found = await decideOn(deps, input, listed, commitId, signal);
  return found?.kind === "found" ? null : found;
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
  return findMarked(await list(deps, search, signal), jobId);
}

async function list(
  deps: PublishDeps,
  search: PullRequestSearch,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await sendQuestion(deps, (request) => deps.forge.findPullRequests(search, request), signal);
    if (answer.kind === "answered") return answer.value;
    await pauseAfterUnclear(attempt, answer.error, signal);
  }
}
