import { setTimeout as sleep } from "node:timers/promises";
import { isFault } from "@emend/base/fault.ts";
import { PublishFault } from "./faults.ts";
import type { PublishDeps } from "./publication.ts";

const attemptsMax = 4;
const firstPauseMs = 200;
const pauseMsMax = 10_000;

/**
 * The retry policy: waits longer each time (backoff), and never less than the forge's Retry-After. After the last
 * attempt, or if the forge asks for a long wait, a later run continues.
 */
export async function pauseAfterUnclear(attempt: number, error: unknown, signal: AbortSignal): Promise<void> {
  const askedMs = isFault(error) ? (error.retryAfterMs ?? 0) : 0;
  if (attempt >= attemptsMax || askedMs > pauseMsMax) {
    // A refusal that may pass keeps its code: it is tried a few more times and is final after that.
    if (isFault(error, "forge_rejected")) throw error;
    throw new PublishFault("forge_unavailable", {
      publicMessage: isFault(error) ? error.publicMessage : "The forge did not give a usable answer.",
      retryable: true,
      retryAfterMs: isFault(error) ? error.retryAfterMs : undefined,
      isPending: isFault(error) && error.isPending,
      cause: error,
    });
  }
  await sleep(Math.max(firstPauseMs * 2 ** (attempt - 1), askedMs), undefined, { signal });
}

/**
 * How long Emend waits for the answer to a write. Waiting is not repeating: a request without an answer may still be
 * carried out, and `ensurePullRequest` decides when it can be sent again. The lease is renewed meanwhile.
 */
const answerSecondsMax = 300;
/** A question may read a list of many pages. Each page has its own time limit. */
const questionSecondsMax = 240;
const renewalsMax = 3;

/** A response, or none (timeout, reset, 5xx): then the effect may or may not have happened. */
export type Answer<T> = { kind: "answered"; value: T } | { kind: "unclear"; error: unknown };
type Send<T> = (signal: AbortSignal) => Promise<T>;
type EffectDeps = Pick<PublishDeps, "forge" | "writes" | "renewForEffect" | "secondMs">;

/** The length of a second: tests of slow forges use a shorter one. */
export function secondsMs({ secondMs = 1000 }: Pick<PublishDeps, "secondMs">, seconds: number): number {
  return seconds * secondMs;
}

/**
 * Sends a write in its turn, with a lease renewed right before. Throws if the lease is lost or the forge refuses
 * permanently.
 */
export function sendEffect<T>(
  deps: EffectDeps,
  send: Send<T>,
  signal: AbortSignal,
  /** Stores that it is about to be sent, when it is its turn. */
  mark: () => Promise<void> = async () => {},
): Promise<Answer<T>> {
  const { writes, forge } = deps;
  return answer(deps, answerSecondsMax, signal, (begin) => {
    const turn = async () => {
      await mark();
      return renewed(deps, () => begin(send));
    };
    return writes.write(forge.credentialId, turn, signal);
  });
}

/**
 * Sends work of many bytes or requests, which ends by itself when nothing moves any more. It does not hold up the other
 * writes of the credential, and it is safe to repeat.
 */
export function sendLongEffect<T>(deps: EffectDeps, send: Send<T>, signal: AbortSignal): Promise<Answer<T>> {
  return answer(deps, null, signal, (begin) =>
    deps.writes.read(deps.forge.credentialId, () => renewed(deps, () => begin(send)), signal),
  );
}

/** Sends a request that changes nothing. */
export function sendQuestion<T>(deps: EffectDeps, send: Send<T>, signal: AbortSignal): Promise<Answer<T>> {
  return answer(deps, questionSecondsMax, signal, (begin) =>
    deps.writes.read(deps.forge.credentialId, () => begin(send), signal),
  );
}

async function answer<T>(
  deps: EffectDeps,
  secondsMax: number | null,
  signal: AbortSignal,
  exchange: (begin: (send: Send<T>) => Promise<T>) => Promise<T>,
): Promise<Answer<T>> {
  let isSent = false;
  let timeout: AbortSignal | null = null;
  const begin = (send: Send<T>) => {
    isSent = true;
    timeout = secondsMax === null ? null : AbortSignal.timeout(Math.ceil(secondsMs(deps, secondsMax)));
    return send(timeout ? AbortSignal.any([signal, timeout]) : signal);
  };
  try {
    return { kind: "answered", value: await exchange(begin) };
  } catch (error) {
    // A failure before the request was sent (lease, queue) is certain: nothing happened.
    if (!isSent || signal.aborted || isPermanent(error)) throw error;
    const isOver = (timeout as AbortSignal | null)?.aborted && !isFault(error);
    return { kind: "unclear", error: isOver ? stoppedWaiting(secondsMax ?? 0, error) : error };
  }
}

function stoppedWaiting(seconds: number, cause: unknown): PublishFault {
  return new PublishFault("forge_unavailable", {
    publicMessage: `The forge did not answer. Emend stopped waiting after ${seconds} s.`,
    retryable: true,
    cause,
  });
}

export function isStoppedWaiting(error: unknown): boolean {
  return isFault(error) && error.cause instanceof DOMException && error.cause.name === "TimeoutError";
}

/** A worker that was frozen while it renewed must renew again before it sends. */
async function renewed<T>(deps: EffectDeps, send: () => Promise<T>): Promise<T> {
  for (let renewal = 1; renewal <= renewalsMax; renewal += 1) {
    const { sendBeforeMs } = await deps.renewForEffect();
    if (performance.now() < sendBeforeMs) return send();
  }
  throw new PublishFault("internal", { publicMessage: "The lease could not be renewed in time.", retryable: true });
}

function isPermanent(error: unknown): boolean {
  return isFault(error) && !error.retryable;
}
