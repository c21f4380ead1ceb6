import { createWakeUp } from "@emend/base/locks.ts";
import type { Logger } from "@emend/base/logger.ts";
import {
  type AnswerMemory,
  type Conversation,
  type Forge,
  isAnswered,
  type Polling,
  type PullRequestComment,
  startPolling,
} from "@emend/forges";
import { channels, type Listener } from "../db/listener.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import {
  type Busy,
  chargePoll,
  claimPullRequestPoll,
  claimUnsurePublication,
  type Look,
  markHandled,
  recordPullRequestState,
  settleCreate,
  settleUnsurePublication,
  type UnsurePublication,
} from "../jobs/pull-requests.ts";
import { recordNotice } from "../jobs/run/record-work.ts";
import { findMarked, openWithMarker, sayTwins, sinceOf } from "../publish/ensure-pull-request.ts";

export interface WatchDeps extends CommentDeps {
  pool: Pool;
  log: Logger;
  answers: AnswerMemory;
  /** Null if the project is gone. */
  forgeOf(projectId: string, polling: Polling): Promise<Forge | null>;
  /** A pull request of the project was merged since the last look. */
  onMerged?(projectId: string): Promise<void>;
}

export interface PullRequestWatch {
  stop(): Promise<void>;
}

const pollEveryMs = 120_000;
const requestMsMax = 60_000;
const looksMax = 12;
/** A forge that does not answer delays only its own projects. */
const looksMaxOfForge = 3;

/**
 * Polls open pull requests until stopped: their state, and comments that mention Emend. Also looks for pull requests
 * that a stopped job may have opened.
 */
export function startPullRequestWatch(
  deps: WatchDeps & { listener: Listener },
  options: { pollMs?: number } = {},
): PullRequestWatch {
  const stopping = new AbortController();
  const wake = createWakeUp();
  const unlisten = deps.listener.on(channels.lookDue, () => wake.ring());

  const looks = new Map<string, { origin: string; ended: Promise<void> }>();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const look = looks.size < looksMax ? await claim() : null;
      if (look) begin(look);
      else if (!stopping.signal.aborted) await wake.wait(options.pollMs ?? 5_000);
    }
    await Promise.all([...looks.values()].map(({ ended }) => ended));
  }

  async function claim(): Promise<Look | UnsurePublication | null> {
    const busy = Object.entries(Object.groupBy(looks.values(), ({ origin }) => origin));
    const origins = busy.flatMap(([origin, own]) => ((own?.length ?? 0) >= looksMaxOfForge ? [origin] : []));
    return claimAny(deps, { projectIds: [...looks.keys()], origins }).catch((error: unknown) => {
      if (!stopping.signal.aborted) deps.log.warn({ err: error }, "could not check pull requests");
      return null;
    });
  }

  function begin(look: Look | UnsurePublication): void {
    const ended = tryPoll(deps, look, stopping.signal).finally(() => {
      looks.delete(look.projectId);
      wake.ring();
    });
    looks.set(look.projectId, { origin: look.origin, ended });
  }

  const ended = loop();
  return {
    async stop() {
      stopping.abort();
      unlisten();
      wake.ring();
      await ended;
    },
  };
}

/** False if none is due. */
export async function pollOnce(deps: WatchDeps, signal: AbortSignal): Promise<boolean> {
  const look = await claimAny(deps, { projectIds: [], origins: [] });
  if (look) await tryPoll(deps, look, signal);
  return look !== null;
}

async function claimAny({ pool }: WatchDeps, except: Busy): Promise<Look | UnsurePublication | null> {
  return (await claimPullRequestPoll(pool, pollEveryMs, except)) ?? claimUnsurePublication(pool, pollEveryMs, except);
}

async function tryPoll(deps: WatchDeps, look: Look | UnsurePublication, signal: AbortSignal): Promise<void> {
  try {
    await pollForge(deps, look, AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]));
  } catch (error) {
    // The forge may be unavailable or refuse. It is polled again later.
    if (!signal.aborted) deps.log.warn({ err: error, jobId: look.jobId }, "could not check a pull request");
  }
}

async function pollForge(deps: WatchDeps, look: Look | UnsurePublication, signal: AbortSignal): Promise<void> {
  const polling = startPolling(deps.answers, look.projectId);
  const forge = await deps.forgeOf(look.projectId, polling);
  if (!forge) return;
  let limitedMs = 0;
  try {
    if ("number" in look) await followPullRequest(deps, look, forge, signal);
    else await findUnsurePublication(deps, look, forge, signal);
  } catch (error) {
    if (isAppError(error) && error.isRateLimit) limitedMs = error.retryAfterMs ?? 0;
    throw error;
  } finally {
    const { spentMs, pauseMs } = polling.cost();
    const cost = { credentialId: forge.credentialId, spentMs, pauseMs: Math.max(pauseMs, limitedMs) };
    // The local forge has no rate limit.
    if (forge.name !== "local") await chargePoll(deps.pool, look, cost);
  }
}

async function followPullRequest(deps: WatchDeps, look: Look, forge: Forge, signal: AbortSignal): Promise<void> {
  const pullRequest = await forge.readPullRequest(look.number, signal);
  if (!pullRequest) return;
  const news = await recordPullRequestState(deps.pool, look.jobId, pullRequest);
  if (news === "merged") await deps.onMerged?.(look.projectId);
  if (look.createEnded !== null) await closeTwins(deps, look, forge, signal);
  if (pullRequest.state !== "open" || !look.isFinal || !forge.conversation) return;
  await followComments(deps, look, forge.conversation, signal);
}

/**
 * A proxy that repeats requests, or a forge that works on them for minutes, may have opened a second pull request after
 * the first was found. The one that the job named stays. An older one is not touched if it may be an earlier round's.
 */
async function closeTwins(deps: WatchDeps, look: Look, forge: Forge, signal: AbortSignal): Promise<void> {
  const { jobId, branch: head, number } = look;
  const listed = await forge.findPullRequests({ head, since: sinceOf(look.createdAt) }, signal);
  for (const twin of openWithMarker(listed, jobId)) {
    if (twin.number === number || (twin.number < number && !look.isFirstRound)) continue;
    await forge.closePullRequest(twin.number, signal);
    await recordNotice(deps.pool, { jobId }, `${sayTwins(number, twin.number, "closed")}.`);
  }
  await settleCreate(deps.pool, look);
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
  await settleUnsurePublication(deps.pool, jobId, found?.pullRequest ?? null);
}

/**
 * The outcome of a follow-up: accepted by this or another node, to be retried, or refused with a message for its
 * author.
 */
export type FollowUpOutcome =
  | { kind: "accepted" }
  | { kind: "heard" }
  | { kind: "later" }
  | { kind: "refused"; words: string };

export interface FollowUpInput {
  jobId: string;
  projectId: string;
  commentId: string;
  prompt: string;
  author: string;
}

export interface CommentDeps {
  pool: Queryable;
  /** Posts the answer once, also if the forge is unavailable now. */
  askAnswer(answer: { jobId: string; to: string; words: string }): Promise<void>;
  /** Marks the comment as handled in the transaction that accepts the follow-up. */
  followUp(input: FollowUpInput): Promise<FollowUpOutcome>;
}

/** A comment is for Emend if it starts with a mention. */
const call = /^\s*@emend\b[\s:,]*/i;

/**
 * Turns comments that mention Emend into follow-ups, if their author may write to the repository. A comment is marked
 * as handled together with its effect or after it, so a crash repeats it and it never acts twice.
 */
async function followComments(
  deps: CommentDeps,
  look: Look,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const comments = await conversation.listComments(look.number, signal);
  // Also posted on the pull request, where it was asked. Sent before anything else is handled, because that may start a
  // new round.
  if (look.failed) await answer(`message-${look.failed.message}`, look.failed.words);
  for (const comment of comments) {
    if (!isCall(comment) || isHeard(look, comment)) continue;
    const prompt = promptOf(comment);
    const access = prompt === "" ? "no" : await conversation.mayWrite(comment.author, signal);
    if (access === "unknown") await answer(comment.id, unknownAccess(comment.authorName ?? comment.author));
    if (access !== "yes") {
      await markHandled(deps.pool, look.jobId, comment.id);
      continue;
    }
    const { jobId, projectId } = look;
    const asked = { jobId, projectId, commentId: comment.id, prompt, author: comment.author };
    const outcome = await deps.followUp(asked);
    // A round is running now. Other comments wait until it ends.
    if (outcome.kind === "accepted" || outcome.kind === "later") return;
    if (outcome.kind === "heard") continue;
    await answer(comment.id, outcome.words);
    await markHandled(deps.pool, look.jobId, comment.id);
  }

  async function answer(to: string, words: string): Promise<void> {
    if (!isAnswered(comments, to)) await deps.askAnswer({ jobId: look.jobId, to, words });
  }
}

/** A review is for Emend if its text or one of its line comments mentions it. */
function isCall({ text, lines = [] }: PullRequestComment): boolean {
  return call.test(text) || lines.some((line) => call.test(line.text));
}

/** Earlier releases handled line comments one by one. */
function isHeard({ heard }: Look, { id, lines = [] }: PullRequestComment): boolean {
  return heard.includes(id) || lines.some((line) => heard.includes(line.id));
}

/**
 * If a review's text mentions Emend, all of its line comments belong to the request. Otherwise only those that mention
 * it do.
 */
function promptOf(comment: PullRequestComment): string {
  const { text, lines = [] } = comment;
  const isWhole = call.test(text);
  const said = lines.filter((line) => isWhole || call.test(line.text)).map(placed);
  return [isWhole || lines.length === 0 ? placed(comment) : "", ...said].filter((part) => part !== "").join("\n\n");
}

function placed({ text, path, line, isRemovedLine }: PullRequestComment): string {
  const words = text.replace(call, "").trim();
  if (words === "" || path === null) return words;
  return `In ${path}${line === null ? "" : `, ${isRemovedLine ? "removed line" : "line"} ${line}`}: ${words}`;
}

function unknownAccess(author: string): string {
  return (
    `${author}, Emend cannot check whether you have write access to this repository, so it did not act on your comment. ` +
    "On this forge, only administrators of the repository can read permissions. Make Emend's account an administrator, or send the request from Emend's dashboard."
  );
}
