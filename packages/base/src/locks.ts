import type { ServerResponse } from "node:http";
import { DatabaseSync } from "node:sqlite";

/** A mutex per key: one piece of work at a time for each key; callers with the same key queue up. */
interface KeyedMutex {
  /** Null if too many callers of this key are waiting. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> | null;
}

export function createKeyedMutex({ waitingMax }: { waitingMax: number }): KeyedMutex {
  const lines = new Map<string, { tail: Promise<unknown>; length: number }>();
  return {
    run(key, work) {
      const line = lines.get(key) ?? { tail: Promise.resolve(), length: 0 };
      if (line.length > waitingMax) return null;
      lines.set(key, line);
      line.length += 1;
      const turn = line.tail.then(work).finally(() => {
        line.length -= 1;
        if (line.length === 0) lines.delete(key);
      });
      line.tail = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** Limits for responses that stay open: each costs memory and occasional queries. */
export interface SeatBounds {
  /** Per key or person. */
  perHolderMax: number;
  /** Per process. */
  allMax: number;
}

export interface KeyedSemaphore {
  /** Returns a function that releases the slot (safe to call twice). Null if the holder's or all slots are taken. */
  take(holder: string): (() => void) | null;
}

/** Takes a slot for the duration of a response. Returns whether one was free. */
export function acquireForResponse(seats: KeyedSemaphore, holder: string, response: ServerResponse): () => boolean {
  return () => {
    const leave = seats.take(holder);
    // Released when the response ends or is aborted. An injected request has no close event.
    if (leave) response.once("finish", leave).once("close", leave);
    return leave !== null;
  };
}

const usualBounds: SeatBounds = { perHolderMax: 200, allMax: 5_000 };

export function createKeyedSemaphore(bounds: SeatBounds = usualBounds): KeyedSemaphore {
  const taken = new Map<string, number>();
  let all = 0;

  function add(holder: string, count: 1 | -1): void {
    const now = (taken.get(holder) ?? 0) + count;
    if (now === 0) taken.delete(holder);
    else taken.set(holder, now);
    all += count;
  }

  return {
    take(holder) {
      if (all >= bounds.allMax || (taken.get(holder) ?? 0) >= bounds.perHolderMax) return null;
      add(holder, 1);
      let isHeld = true;
      return () => {
        if (isHeld) add(holder, -1);
        isHeld = false;
      };
    },
  };
}

/**
 * Locks a file for this process. Null if another process has it. It uses SQLite's lock: Node has no other, and the
 * kernel releases it when the process ends. So it is never stale, and there is no race. The database stays empty.
 */
export function tryFileLock(file: string): { release(): void } | null {
  let handle: DatabaseSync | undefined;
  try {
    handle = new DatabaseSync(file, { timeout: 0 });
    handle.exec("pragma journal_mode = off; begin exclusive");
  } catch (error) {
    handle?.close();
    if (isBusy(error)) return null;
    throw error;
  }
  const held = handle;
  return {
    release() {
      if (held.isOpen) held.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5;
}

/** A wait that can be ended from elsewhere. A ring while nobody waits is kept for the next wait. */
interface WakeUp {
  ring(): void;
  /** Until rung, or until `ms` have passed. */
  wait(ms: number): Promise<void>;
}

export function createWakeUp(): WakeUp {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      rung = true;
      wake?.();
    },
    async wait(ms) {
      if (!rung) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        wake = resolve;
        await promise;
        clearTimeout(timer);
        wake = null;
      }
      rung = false;
    },
  };
}
