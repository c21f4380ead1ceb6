import { setTimeout } from "node:timers/promises";
import type { Logger } from "../lib/logger.ts";
import { type Channel, channels } from "./channels.ts";
import { type ListenSession, openListenSession } from "./listen-session.ts";

/** One LISTEN connection per process, which knows how fresh it is. */
export interface Listener {
  on(channel: Channel, handler: (payload: string) => void): () => void;
  /**
   * Called after a reconnect: notices may have been missed. Clear the cache, and do not cache what a query that began
   * before this call returns.
   */
  onReset(handler: () => void): () => void;
  /** True if a round trip that started within the last 900 ms has completed: cached values are valid. */
  isFresh(): boolean;
  close(): Promise<void>;
}

export interface ListenerOptions {
  url: string;
  log: Logger;
  /** Aborts the wait for the first connection. */
  signal?: AbortSignal;
}

const freshForMs = 900;
const retryAfterMsMin = 50;
const retryAfterMsMax = 1_000;

/** Listens to every channel. Resolves once notices arrive, and reconnects automatically from then on. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { url, log } = options;
  const noticeHandlers = new Map<string, Set<(payload: string) => void>>();
  const resetHandlers = new Set<() => void>();
  const closing = new AbortController();
  const stopSignal = options.signal ? AbortSignal.any([closing.signal, options.signal]) : closing.signal;
  let session: ListenSession | undefined = await connect(stopSignal);
  const following = follow(session);

  async function connect(signal: AbortSignal): Promise<ListenSession> {
    for (let retryAfterMs = retryAfterMsMin; ; retryAfterMs = Math.min(retryAfterMs * 2, retryAfterMsMax)) {
      signal.throwIfAborted();
      try {
        return await openListenSession({ url, channels: Object.values(channels), onNotice: deliver });
      } catch (error) {
        log.warn({ err: error, retryAfterMs }, "listening connection failed");
        await setTimeout(retryAfterMs, undefined, { signal });
      }
    }
  }

  async function follow(first: ListenSession): Promise<void> {
    for (let current = first; ; ) {
      const error = await current.lost;
      session = undefined;
      if (closing.signal.aborted) return;
      log.warn({ err: error }, "listening connection lost");
      const next = await connect(closing.signal).catch(() => undefined);
      if (!next) return;
      if (closing.signal.aborted) return next.close();
      for (const handler of resetHandlers) callSafely(handler);
      session = next;
      current = next;
    }
  }

  function deliver(channel: string, payload: string): void {
    for (const handler of noticeHandlers.get(channel) ?? []) callSafely(() => handler(payload));
  }

  function callSafely(handler: () => void): void {
    try {
      handler();
    } catch (error) {
      log.error({ err: error }, "notice handler failed");
    }
  }

  return {
    on(channel, handler) {
      const handlers = noticeHandlers.get(channel) ?? new Set();
      noticeHandlers.set(channel, handlers.add(handler));
      return () => handlers.delete(handler);
    },
    onReset(handler) {
      resetHandlers.add(handler);
      return () => resetHandlers.delete(handler);
    },
    isFresh() {
      return session !== undefined && performance.now() - session.confirmedAt() <= freshForMs;
    },
    async close() {
      closing.abort();
      await session?.close();
      await following;
    },
  };
}
