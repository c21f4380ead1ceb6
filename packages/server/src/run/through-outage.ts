import { setTimeout as pause } from "node:timers/promises";
import { isDatabaseUnavailable } from "../db/is-unavailable.ts";
import type { Logger } from "../lib/logger.ts";

const firstPauseMs = 100;
const pauseMsMax = 2_000;

/**
 * Retries a write until the database accepts it. This way a run survives an outage, and a model's turn that was about
 * to be stored is not paid for twice. `write` must be idempotent.
 */
export async function throughOutage<T>(log: Logger, signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, pauseMsMax)) {
    signal.throwIfAborted();
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      log.warn({ err: error }, "database unavailable, retrying the write");
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}
