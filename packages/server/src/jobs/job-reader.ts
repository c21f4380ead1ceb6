import { channels } from "../db/channels.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import { createFreshMap } from "../lib/fresh-map.ts";
import { getJob } from "./get-job.ts";
import type { WireJob } from "./wire-job.ts";

const jobsMax = 20_000;
/** Notices are hints: whoever waits for a change looks by himself this often. */
const lookEveryMs = 1000;

/** Jobs as the wire shows them: remembered, and forgotten as soon as they change. */
export interface JobReader {
  /** At once where the job is remembered. */
  read(id: string): WireJob | undefined | Promise<WireJob | undefined>;
  /** For a write of this process: whoever asks here next sees it, before the notice has come around. */
  forget(id: string): void;
  /** Reads until `isEnough`, `untilMs` (by performance.now) or the signal; gives what was read last. */
  readUntil(
    id: string,
    isEnough: (job: WireJob | undefined) => boolean,
    options: { untilMs: number; signal: AbortSignal },
  ): Promise<WireJob | undefined>;
  /** Lets everyone who waits go with what there is. */
  close(): void;
}

export function createJobReader(deps: { pool: Pool; listener: Listener }): JobReader {
  const jobs = createFreshMap<WireJob>(deps.listener, jobsMax);
  const waiters = new Map<string, Set<() => void>>();
  let isClosed = false;
  const stopListening = [
    deps.listener.on(channels.jobChanged, (id) => {
      jobs.delete(id);
      wake(waiters.get(id));
    }),
    deps.listener.onReset(() => {
      jobs.clear();
      wakeAll();
    }),
  ];

  function read(id: string): WireJob | undefined | Promise<WireJob | undefined> {
    return jobs.get(id) ?? jobs.load(id, () => getJob(deps.pool, id));
  }

  function wakeAll(): void {
    for (const set of waiters.values()) wake(set);
  }

  /** Hears of the job from now on, until stopped. */
  function listenFor(id: string): { next(ms: number, signal: AbortSignal): Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const set = waiters.get(id) ?? new Set();
    waiters.set(id, set.add(resolve));
    return {
      async next(ms, signal) {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener("abort", wakeUp);
        await promise;
        clearTimeout(timer);
        signal.removeEventListener("abort", wakeUp);
      },
      stop() {
        set.delete(resolve);
        if (set.size === 0 && waiters.get(id) === set) waiters.delete(id);
      },
    };
    function wakeUp(): void {
      resolve();
    }
  }

  return {
    read,
    forget: (id) => jobs.delete(id),
    async readUntil(id, isEnough, { untilMs, signal }) {
      for (;;) {
        // Listens from before the reading on: a change in between must not be slept through.
        const notices = listenFor(id);
        try {
          const job = await read(id);
          const leftMs = untilMs - performance.now();
          if (isEnough(job) || leftMs <= 0 || signal.aborted || isClosed) return job;
          await notices.next(Math.min(lookEveryMs, leftMs), signal);
        } finally {
          notices.stop();
        }
      }
    },
    close() {
      isClosed = true;
      for (const stop of stopListening) stop();
      wakeAll();
    },
  };
}

function wake(set: Set<() => void> | undefined): void {
  for (const resolve of set ?? []) resolve();
}
