/**
 * Lets callers who ask for the same thing share one piece of work, where that is correct: only work that has not
 * begun yet sees everything that had happened when they asked. So one runs, and the next one gathers.
 */
export interface SharedWork<T> {
  join(
    key: string,
    member: string,
    work: (members: readonly string[], signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T>;
}

interface Batch<T> {
  members: string[];
  /** Callers who still want it; the work is given up when there is none. */
  waiting: number;
  controller: AbortController;
  result: Promise<T>;
}

export function createSharedWork<T>(): SharedWork<T> {
  const running = new Map<string, Promise<unknown>>();
  const gathering = new Map<string, Batch<T>>();

  function gather(key: string, work: (members: readonly string[], signal: AbortSignal) => Promise<T>): Batch<T> {
    const batch: Batch<T> = {
      members: [],
      waiting: 0,
      controller: new AbortController(),
      result: Promise.resolve(running.get(key)).then(() => {
        if (gathering.get(key) === batch) gathering.delete(key);
        const result = work(batch.members, batch.controller.signal);
        const settled = result.then(noop, noop).then(() => {
          if (running.get(key) === settled) running.delete(key);
        });
        running.set(key, settled);
        return result;
      }),
    };
    // Nobody may be left to hear of a failure.
    batch.result.catch(noop);
    gathering.set(key, batch);
    return batch;
  }

  return {
    async join(key, member, work, signal) {
      signal.throwIfAborted();
      const batch = gathering.get(key) ?? gather(key, work);
      batch.members.push(member);
      batch.waiting += 1;
      const aborted = Promise.withResolvers<never>();
      const onAbort = () => {
        batch.waiting -= 1;
        if (batch.waiting === 0) {
          batch.controller.abort(signal.reason);
          // Who asks now must not join what was given up.
          if (gathering.get(key) === batch) gathering.delete(key);
        }
        aborted.reject(signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        return await Promise.race([batch.result, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

function noop(): void {}
