import { setTimeout as pause } from "node:timers/promises";
import { isDatabaseUnavailable } from "../db/is-unavailable.ts";
import type { Logger } from "../lib/logger.ts";

const firstPauseMs = 100;
const pauseMsMax = 2_000;

/**
 * Says a write again until the database has it. A run outlives an outage this way, and the turn of a model that it
 * was about to store is not paid for twice. So `write` must be one that may be said twice.
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
