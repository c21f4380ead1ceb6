import { channels, type Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import type { Forge } from "../forge/forge.ts";
import { type AnswerMemory, type Polling, startPolling } from "../forge/polling.ts";
import {
  chargeLook,
  claimLook,
  claimUnsurePublication,
  type Look,
  recordPullRequestState,
  settleUnsurePublication,
  type UnsurePublication,
} from "../jobs/pull-requests.ts";
import { createWakeUp } from "../lib/locks.ts";
import type { Logger } from "../lib/logger.ts";
import { findMarked, sinceOf } from "../publish/find-pull-request.ts";
import { type CommentDeps, followComments } from "./follow-comments.ts";

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

const lookEveryMs = 120_000;
const requestMsMax = 60_000;
const looksMax = 4;

/**
 * Polls open pull requests until stopped: their state, and comments that mention Emend. Also looks for pull requests
 * that a stopped job may have opened. One project at a time per forge, so that a forge that does not answer delays only
 * its own projects.
 */
export function startPullRequestWatch(
  deps: WatchDeps & { listener: Listener },
  options: { pollMs?: number } = {},
): PullRequestWatch {
  const stopping = new AbortController();
  const wake = createWakeUp();
  const unlisten = deps.listener.on(channels.lookDue, () => wake.ring());

  const looks = new Map<string, Promise<void>>();

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const look = looks.size < looksMax ? await claim() : null;
      if (look) begin(look);
      else if (!stopping.signal.aborted) await wake.wait(options.pollMs ?? 5_000);
    }
    await Promise.all(looks.values());
  }

  async function claim(): Promise<Look | UnsurePublication | null> {
    return claimAny(deps, [...looks.keys()]).catch((error: unknown) => {
      if (!stopping.signal.aborted) deps.log.warn({ err: error }, "could not check pull requests");
      return null;
    });
  }

  function begin(look: Look | UnsurePublication): void {
    const ended = tryLook(deps, look, stopping.signal).finally(() => {
      looks.delete(look.projectId);
      wake.ring();
    });
    looks.set(look.projectId, ended);
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
export async function lookOnce(deps: WatchDeps, signal: AbortSignal): Promise<boolean> {
  const look = await claimAny(deps, []);
  if (look) await tryLook(deps, look, signal);
  return look !== null;
}

async function claimAny({ pool }: WatchDeps, except: readonly string[]): Promise<Look | UnsurePublication | null> {
  return (await claimLook(pool, lookEveryMs, except)) ?? claimUnsurePublication(pool, lookEveryMs, except);
}

async function tryLook(deps: WatchDeps, look: Look | UnsurePublication, signal: AbortSignal): Promise<void> {
  try {
    await lookAt(deps, look, AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]));
  } catch (error) {
    // The forge may be unavailable or refuse. It is polled again later.
    if (!signal.aborted) deps.log.warn({ err: error, jobId: look.jobId }, "could not check a pull request");
  }
}

async function lookAt(deps: WatchDeps, look: Look | UnsurePublication, signal: AbortSignal): Promise<void> {
  const polling = startPolling(deps.answers, look.projectId);
  const forge = await deps.forgeOf(look.projectId, polling);
  if (!forge) return;
  let limitedMs = 0;
  try {
    if ("number" in look) await lookOn(deps, look, forge, signal);
    else await lookFor(deps, look, forge, signal);
  } catch (error) {
    if (isAppError(error) && error.isRateLimit) limitedMs = error.retryAfterMs ?? 0;
    throw error;
  } finally {
    const { spentMs, pauseMs } = polling.cost();
    const cost = { credentialId: forge.credentialId, spentMs, pauseMs: Math.max(pauseMs, limitedMs) };
    // The local forge has no rate limit.
    if (forge.name !== "local") await chargeLook(deps.pool, look, cost);
  }
}

async function lookOn(deps: WatchDeps, look: Look, forge: Forge, signal: AbortSignal): Promise<void> {
  const pullRequest = await forge.readPullRequest(look.number, signal);
  if (!pullRequest) return;
  const news = await recordPullRequestState(deps.pool, look.jobId, pullRequest);
  if (news === "merged") await deps.onMerged?.(look.projectId);
  if (pullRequest.state !== "open" || !look.isFinal || !forge.conversation) return;
  await followComments(deps, look, forge.conversation, signal);
}

async function lookFor(deps: WatchDeps, job: UnsurePublication, forge: Forge, signal: AbortSignal): Promise<void> {
  const { branch: head, baseBranch, jobId } = job;
  const search = { head, ...(baseBranch !== null && { base: baseBranch }), since: sinceOf(job.createdAt) };
  const found = findMarked(await forge.findPullRequests(search, signal), jobId);
  await settleUnsurePublication(deps.pool, jobId, found?.pullRequest ?? null);
}
