import { setTimeout as sleep } from "node:timers/promises";
import { isFault } from "@emend/base/fault.ts";
import { PublishFault } from "./faults.ts";

/**
 * Serializes writes to a forge per credential, but not behind one without an answer: jobs that wait for it would occupy
 * the workers, also for other forges. After a rate limit, nothing is sent until it ends. There is one queue
 * per process. Forges limit by credential, so jobs of several projects may share a line.
 */
export interface WriteQueue {
  write<T>(credentialId: string, send: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Reads are not serialized, but they wait for a rate limit too. */
  read<T>(credentialId: string, send: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Line {
  tail: Promise<unknown>;
  users: number;
  openAtMs: number;
  /** Why the line is closed, in the forge's words. */
  words: string;
}

/** Waits for a pause of up to `pauseMsMax`. A longer pause is thrown, so that the run can release its lease. */
export function createWriteQueue(options: { pauseMsMax?: number; turnMsMax?: number } = {}): WriteQueue {
  const pauseMsMax = options.pauseMsMax ?? 10_000;
  /** After this, a write without an answer lets the next one in. */
  const turnMsMax = options.turnMsMax ?? 10_000;
  const lines = new Map<string, Line>();

  async function inLine<T>(credentialId: string, work: (line: Line) => Promise<T>): Promise<T> {
    const line = lines.get(credentialId) ?? { tail: Promise.resolve(), users: 0, openAtMs: 0, words: "" };
    lines.set(credentialId, line);
    line.users += 1;
    try {
      return await work(line);
    } finally {
      line.users -= 1;
      if (line.users === 0 && line.openAtMs <= performance.now()) lines.delete(credentialId);
    }
  }

  async function send<T>(line: Line, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await untilOpen(line, pauseMsMax, signal);
    try {
      return await work();
    } catch (error) {
      // A server error says nothing about the credential. Only a rate limit delays its other requests.
      if (isFault(error) && error.isRateLimit && error.retryAfterMs !== undefined) {
        line.openAtMs = Math.max(line.openAtMs, performance.now() + error.retryAfterMs);
        line.words = error.publicMessage;
      }
      throw error;
    }
  }

  return {
    read: (credentialId, work, signal) => inLine(credentialId, (line) => send(line, work, signal)),
    write: (credentialId, work, signal) =>
      inLine(credentialId, (line) => {
        const before = line.tail;
        let given: NodeJS.Timeout | undefined;
        const { promise: isLong, resolve } = Promise.withResolvers<void>();
        const timed = () => {
          given = setTimeout(resolve, turnMsMax);
          return work();
        };
        const turn = unlessAborted(before, signal)
          .then(() => send(line, timed, signal))
          .finally(() => clearTimeout(given));
        // A caller that stops waiting must not let the next one in before those ahead of it had their turn.
        line.tail = Promise.allSettled([before, Promise.race([turn, isLong])]);
        return turn;
      }),
  };
}

async function untilOpen(line: Line, pauseMsMax: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const pauseMs = Math.ceil(line.openAtMs - performance.now());
  if (pauseMs <= 0) return;
  if (pauseMs > pauseMsMax) {
    throw new PublishFault("forge_unavailable", {
      publicMessage: line.words,
      retryable: true,
      retryAfterMs: pauseMs,
      isRateLimit: true,
    });
  }
  await sleep(pauseMs, undefined, { signal });
  return untilOpen(line, pauseMsMax, signal);
}

async function unlessAborted(settled: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([settled, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
