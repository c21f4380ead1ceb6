import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError } from "../errors.ts";
import type { PublishDeps } from "./publication.ts";

const attemptsMax = 4;
const firstPauseMs = 200;
const pauseMsMax = 10_000;

/**
 * The retry policy: waits longer each time (backoff), and never less than the forge's Retry-After. After the last
 * attempt, or if the forge asks for a long wait, a later run continues.
 */
export async function pauseAfterUnclear(attempt: number, error: unknown, signal: AbortSignal): Promise<void> {
  const askedMs = isAppError(error) ? (error.retryAfterMs ?? 0) : 0;
  if (attempt >= attemptsMax || askedMs > pauseMsMax) {
    throw new AppError("forge_unavailable", {
      publicMessage: isAppError(error) ? error.publicMessage : "The forge did not give a usable answer.",
      retryable: true,
      retryAfterMs: isAppError(error) ? error.retryAfterMs : undefined,
      cause: error,
    });
  }
  await sleep(Math.max(firstPauseMs * 2 ** (attempt - 1), askedMs), undefined, { signal });
}

/** The default for `requestMsMax`. Together with the time to send, it fits into a lease. */
const usualRequestMsMax = 12_000;
/** A question may read a list of many pages. Each page has its own time limit. */
const pagesPerQuestionMax = 20;
const renewalsMax = 3;

/** A response, or none (timeout, reset, 5xx): then the effect may or may not have happened. */
export type Answer<T> = { kind: "answered"; value: T } | { kind: "unclear"; error: unknown };
type Send<T> = (signal: AbortSignal) => Promise<T>;
type EffectDeps = Pick<PublishDeps, "forge" | "writes" | "renewForEffect" | "requestMsMax">;

/**
 * Sends a write in its turn, with a lease renewed right before. Throws if the lease is lost or the forge refuses
 * permanently.
 */
export function sendEffect<T>(deps: EffectDeps, send: Send<T>, signal: AbortSignal): Promise<Answer<T>> {
  const { writes, forge } = deps;
  return answer(deps, signal, (begin) => {
    const turn = async () => {
      await renew(deps);
      return begin(send);
    };
    return writes.write(forge.credentialId, turn, signal);
  });
}

/** Sends a request that changes nothing. */
export function sendQuestion<T>(deps: EffectDeps, send: Send<T>, signal: AbortSignal): Promise<Answer<T>> {
  const { requestMsMax = usualRequestMsMax } = deps;
  const patient = { ...deps, requestMsMax: requestMsMax * pagesPerQuestionMax };
  return answer(patient, signal, (begin) => deps.writes.read(deps.forge.credentialId, () => begin(send), signal));
}

async function answer<T>(
  { requestMsMax = usualRequestMsMax }: EffectDeps,
  signal: AbortSignal,
  exchange: (begin: (send: Send<T>) => Promise<T>) => Promise<T>,
): Promise<Answer<T>> {
  let isSent = false;
  const begin = (send: Send<T>) => {
    isSent = true;
    return send(AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]));
  };
  try {
    return { kind: "answered", value: await exchange(begin) };
  } catch (error) {
    // A failure before the request was sent (lease, queue) is certain: nothing happened.
    if (!isSent || signal.aborted || isPermanent(error)) throw error;
    return { kind: "unclear", error };
  }
}

/** A worker that was frozen while it renewed must renew again before it sends. */
async function renew(deps: EffectDeps): Promise<void> {
  for (let renewal = 1; renewal <= renewalsMax; renewal += 1) {
    const { sendBeforeMs } = await deps.renewForEffect();
    if (performance.now() < sendBeforeMs) return;
  }
  throw new AppError("internal", { publicMessage: "The lease could not be renewed in time.", retryable: true });
}

function isPermanent(error: unknown): boolean {
  return isAppError(error) && !error.retryable;
}
