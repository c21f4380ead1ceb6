import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError } from "../errors.ts";

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
