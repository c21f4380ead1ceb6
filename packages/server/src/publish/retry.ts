import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError } from "../errors.ts";

const attemptsMax = 4;
const firstPauseMs = 200;
const pauseMsMax = 10_000;

/**
 * Waits longer each time, and never less than the forge asked for. After the last attempt, or where it asked for long,
 * a later run goes on.
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
