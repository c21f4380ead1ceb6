import { setImmediate } from "node:timers/promises";

// Well below the 50 ms that the event loop may be held.
const sliceMs = 12;

/** Call it between units of work: it gives the event loop a turn whenever a slice of time is used up. */
export function createTimeSlice(signal?: AbortSignal): () => Promise<void> | undefined {
  let startedAt = performance.now();
  return () => {
    if (performance.now() - startedAt < sliceMs) return undefined;
    signal?.throwIfAborted();
    return setImmediate().then(() => {
      startedAt = performance.now();
    });
  };
}
