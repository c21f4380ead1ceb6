import { setTimeout as sleep } from "node:timers/promises";
import { AppError, isAppError } from "../errors.ts";

/**
 * Turns at a forge, by credential: writes go one after the other, and after a rate limit nothing is sent before its
 * time. One a process; forges limit by credential, so jobs of several projects may share a line.
 */
export interface WriteQueue {
  write<T>(credentialId: string, send: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Reads need no turn, but wait for a rate limit too. */
  read<T>(credentialId: string, send: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Line {
  tail: Promise<unknown>;
  users: number;
  openAtMs: number;
  /** Why it is closed, as the forge said it. */
  words: string;
}

/** A pause of up to `pauseMsMax` is waited for; a longer one is handed back, so that a run can let go of its lease. */
export function createWriteQueue(options: { pauseMsMax?: number } = {}): WriteQueue {
  const pauseMsMax = options.pauseMsMax ?? 10_000;
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
      // A server error says nothing of the credential: only a rate limit keeps its other requests waiting.
      if (isAppError(error) && error.isRateLimit && error.retryAfterMs !== undefined) {
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
        const turn = unlessAborted(before, signal).then(() => send(line, work, signal));
        // Who gives up waiting must not let the next one in before those ahead are through.
        line.tail = Promise.allSettled([before, turn]);
        return turn;
      }),
  };
}

async function untilOpen(line: Line, pauseMsMax: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const pauseMs = Math.ceil(line.openAtMs - performance.now());
  if (pauseMs <= 0) return;
  if (pauseMs > pauseMsMax) {
    throw new AppError("forge_unavailable", {
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
