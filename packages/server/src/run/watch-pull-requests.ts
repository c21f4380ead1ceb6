import type { Logger } from "@emend/base/logger.ts";
import {
  type AnswerMemory,
  type Conversation,
  type Forge,
  isAnswered,
  isOfPerson,
  type Polling,
  type PullRequest,
  type PullRequestComment,
  startPolling,
} from "@emend/forges";
import { findMarked, openWithMarker, sayTwins, sinceOf } from "@emend/publish";
import { channels, type Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { type RunningQueue, startQueue } from "../db/work-queue.ts";
import { isAppError } from "../errors.ts";
import {
  chargePoll,
  claimPullRequestPoll,
  claimUnsurePublication,
  clearCreateDeadline,
  type DuePullRequest,
  markHandled,
  type Occupied,
  recordPullRequestState,
  recordUnsurePublication,
  type UnsurePublication,
} from "../jobs/pull-requests.ts";
import { recordNotice } from "../jobs/run/record-work.ts";
import type { CommentDeps } from "./comment-deps.ts";
import { followCi } from "./follow-ci.ts";
import { followMerge } from "./follow-merge.ts";
import { isCall, promptOf } from "./read-comment.ts";

export interface WatchDeps extends CommentDeps {
  pool: Pool;
  log: Logger;
  answers: AnswerMemory;
  /** Null if the project is gone. */
  forgeOf(projectId: string, polling: Polling): Promise<Forge | null>;
  /** For a forge that does not say it. */
  findConflicts(due: DuePullRequest, pull: PullRequest, forge: Forge, signal: AbortSignal): Promise<boolean>;
  /** A pull request of the project was merged since the last poll. */
  onMerged?(projectId: string): Promise<void>;
}

type DuePoll = DuePullRequest | UnsurePublication;

const pollEveryMs = 120_000;
const requestMsMax = 60_000;
const pollsMax = 12;
/** A forge that does not answer delays only its own projects. */
const pollsMaxOfForge = 3;

/**
 * Polls open pull requests until stopped: their state, and comments that mention Emend. Also looks for pull requests
 * that a stopped job may have opened.
 */
export function startPullRequestWatch(
  deps: WatchDeps & { listener: Listener },
  options: { pollMs?: number } = {},
): RunningQueue {
  return startQueue<DuePoll & { id: string }>(deps, {
    name: "pull requests",
    channel: channels.lookDue,
    pollEveryMs: options.pollMs ?? 5_000,
    atOnceMax: pollsMax,
    async claim(underWay) {
      const byOrigin = Object.entries(Object.groupBy(underWay, ({ origin }) => origin));
      const origins = byOrigin.flatMap(([origin, own]) => ((own?.length ?? 0) >= pollsMaxOfForge ? [origin] : []));
      const due = await claimAny(deps, { projectIds: underWay.map(({ projectId }) => projectId), origins });
      return due ? { ...due, id: due.jobId } : undefined;
    },
    work: (due, stopping) => tryPoll(deps, due, stopping),
  });
}

/** False if none is due. */
export async function pollOnce(deps: WatchDeps, signal: AbortSignal): Promise<boolean> {
  const due = await claimAny(deps, { projectIds: [], origins: [] });
  if (due) await tryPoll(deps, due, signal);
  return due !== null;
}

async function claimAny({ pool }: WatchDeps, except: Occupied): Promise<DuePoll | null> {
  return (await claimPullRequestPoll(pool, pollEveryMs, except)) ?? claimUnsurePublication(pool, pollEveryMs, except);
}

async function tryPoll(deps: WatchDeps, due: DuePoll, signal: AbortSignal): Promise<void> {
  try {
    await pollForge(deps, due, AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]));
  } catch (error) {
    // The forge may be unavailable or refuse. It is polled again later.
    if (!signal.aborted) deps.log.warn({ err: error, jobId: due.jobId }, "could not check a pull request");
  }
}

async function pollForge(deps: WatchDeps, due: DuePoll, signal: AbortSignal): Promise<void> {
  const polling = startPolling(deps.answers, due.projectId);
  const forge = await deps.forgeOf(due.projectId, polling);
  if (!forge) return;
  let limitedMs = 0;
  try {
    if ("number" in due) await followPullRequest(deps, due, forge, signal);
    else await findUnsurePublication(deps, due, forge, signal);
  } catch (error) {
    if (isAppError(error) && error.isRateLimit) limitedMs = error.retryAfterMs ?? 0;
    throw error;
  } finally {
    const { spentMs, pauseMs } = polling.cost();
    const cost = { credentialId: forge.credentialId, spentMs, pauseMs: Math.max(pauseMs, limitedMs) };
    // The local forge has no rate limit.
    if (forge.name !== "local") await chargePoll(deps.pool, due, cost);
  }
}

async function followPullRequest(
  deps: WatchDeps,
  due: DuePullRequest,
  forge: Forge,
  signal: AbortSignal,
): Promise<void> {
  const pullRequest = await forge.readPullRequest(due.number, signal);
  if (!pullRequest) return;
  const news = await recordPullRequestState(deps.pool, due.jobId, pullRequest);
  if (news === "merged") await deps.onMerged?.(due.projectId);
  if (due.createEnded !== null) await closeTwins(deps, due, forge, signal);
  if (pullRequest.state !== "open" || !due.isFinal || !forge.conversation) return;
  const hasConflicts = pullRequest.hasConflicts ?? (await deps.findConflicts(due, pullRequest, forge, signal));
  const pull = { ...pullRequest, ...(hasConflicts && { hasConflicts }) };
  const { isAlone } = await followComments(deps, due, pull, forge.conversation, signal);
  if (due.ci && forge.checks) await followCi(deps, { ...due, ci: due.ci }, pullRequest, forge.checks, signal);
  if (isAlone && due.merge) await followMerge(deps, { ...due, merge: due.merge }, pullRequest, forge, signal);
}

/**
 * A proxy that repeats requests, or a forge that works on them for minutes, may have opened a second pull request after
 * the first was found. The one that the job named stays. An older one is not touched if it may be an earlier round's.
 */
async function closeTwins(deps: WatchDeps, due: DuePullRequest, forge: Forge, signal: AbortSignal): Promise<void> {
  const { jobId, branch: head, number } = due;
  const listed = await forge.findPullRequests({ head, since: sinceOf(due.createdAt) }, signal);
  for (const twin of openWithMarker(listed, jobId)) {
    if (twin.number === number || (twin.number < number && !due.isFirstRound)) continue;
    await forge.closePullRequest(twin.number, signal);
    await recordNotice(deps.pool, { jobId }, `${sayTwins(number, twin.number, "closed")}.`);
  }
  await clearCreateDeadline(deps.pool, due);
}

async function findUnsurePublication(
  deps: WatchDeps,
  job: UnsurePublication,
  forge: Forge,
  signal: AbortSignal,
): Promise<void> {
  const { branch: head, baseBranch, jobId } = job;
  const search = { head, ...(baseBranch !== null && { base: baseBranch }), since: sinceOf(job.createdAt) };
  const found = findMarked(await forge.findPullRequests(search, signal), jobId);
  await recordUnsurePublication(deps.pool, jobId, found?.pullRequest ?? null);
}

/**
 * `isAlone`: no person has said anything. Turns comments that mention Emend into follow-ups, if their author may write to the repository. A comment is marked
 * as handled together with its effect or after it, so a crash repeats it and it never acts twice.
 */
async function followComments(
  deps: CommentDeps,
  due: DuePullRequest,
  pull: PullRequest,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<{ isAlone: boolean }> {
  const comments = await conversation.listComments(due.number, signal);
  const isAlone = !comments.some(isOfPerson);
  // Of each commit once: people may resolve them, and others come later.
  if (pull.hasConflicts) await answer(`conflicts-${pull.headCommit ?? ""}`, conflicts(pull.base));
  if (due.remindAfterDays !== null && isAlone) await answer("reminder", reminder(due.remindAfterDays));
  for (const comment of comments) {
    if (!isCall(comment) || isHandled(due, comment)) continue;
    const prompt = promptOf(comment);
    const access = prompt === "" ? "no" : await conversation.mayWrite(comment.author, signal);
    if (access === "unknown") await answer(comment.id, unknownAccess(comment.authorName ?? comment.author));
    if (access !== "yes") {
      await markHandled(deps.pool, due.jobId, comment.id);
      continue;
    }
    const { jobId, projectId } = due;
    const asked = { jobId, projectId, commentId: comment.id, prompt, author: comment.author };
    deps.crashPoint?.("before-comment-heard");
    const outcome = await deps.followUp(asked);
    deps.crashPoint?.("after-comment-heard");
    // A round is running now. Other comments wait until it ends.
    if (outcome.kind === "accepted" || outcome.kind === "later") return { isAlone };
    if (outcome.kind === "heard") continue;
    await answer(comment.id, outcome.words);
    await markHandled(deps.pool, due.jobId, comment.id);
  }
  return { isAlone };

  async function answer(to: string, words: string): Promise<void> {
    if (!isAnswered(comments, to)) await deps.askAnswer({ jobId: due.jobId, to, words });
  }
}

function conflicts(base: string): string {
  return `${base} has changed lines that this pull request changes too, so it cannot be merged. Resolve the conflicts, or close it and run the job again.`;
}

function reminder(days: number): string {
  return `This pull request has been open for ${days} ${days === 1 ? "day" : "days"} without a comment. Review it, merge it or close it.`;
}

/** Earlier releases handled line comments one by one. */
function isHandled({ heard }: DuePullRequest, { id, lines = [] }: PullRequestComment): boolean {
  return heard.includes(id) || lines.some((line) => heard.includes(line.id));
}

function unknownAccess(author: string): string {
  return (
    `${author}, Emend cannot check whether you have write access to this repository, so it did not act on your comment. ` +
    "On this forge, only administrators of the repository can read permissions. Make Emend's account an administrator, or send the request from Emend's dashboard."
  );
}
