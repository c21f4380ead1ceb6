import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError } from "../errors.ts";

const attemptsMax = 4;
const firstPauseMs = 200;

/** Waits longer each time, and after the last attempt hands the question to a later run. */
export async function pauseAfterUnclear(attempt: number, error: unknown, signal: AbortSignal): Promise<void> {
  if (attempt >= attemptsMax) {
    throw new AppError("forge_unavailable", {
      publicMessage: isAppError(error) ? error.publicMessage : "The forge did not answer clearly.",
      retryable: true,
      retryAfterMs: isAppError(error) ? error.retryAfterMs : undefined,
      cause: error,
    });
  }
  await sleep(firstPauseMs * 2 ** (attempt - 1), undefined, { signal });
}
