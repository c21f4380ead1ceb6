import { setImmediate } from "node:timers/promises";

// Well below the 50 ms limit for blocking the event loop.
const sliceMs = 12;

/** Call it between units of work: it yields to the event loop when the time slice is used up. */
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
