import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "../lib/logger.ts";

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

interface ListenerOptions {
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
        await pause(retryAfterMs, undefined, { signal });
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

/** One LISTEN connection, from its first round trip until it is lost. */
interface ListenSession {
  /** When the last completed round trip started, by `performance.now()`. Notices committed before it have arrived. */
  confirmedAt(): number;
  /** Settles when the connection is lost, with the reason if known. */
  lost: Promise<Error | undefined>;
  close(): Promise<void>;
}

interface SessionOptions {
  url: string;
  channels: readonly string[];
  onNotice(channel: string, payload: string): void;
}

const roundTripEveryMs = 250;
const answerWithinMs = 900;
const openWithinMs = 3_000;

async function openListenSession(options: SessionOptions): Promise<ListenSession> {
  // Our own socket, to destroy it: the driver's close waits for a response, which a half-open connection never sends.
  const socket = new Socket();
  const cut = () => void socket.destroy();
  const client = new pg.Client({
    connectionString: options.url,
    stream: () => socket,
    application_name: "emend listener",
    keepAlive: true,
  });
  const lost = whenLost(client);
  client.on("notification", ({ channel, payload }) => options.onNotice(channel, payload ?? ""));
  const openTimer = setTimeout(cut, openWithinMs);
  try {
    await client.connect();
    await client.query(options.channels.map((channel) => `listen ${client.escapeIdentifier(channel)}`).join(";"));
    const confirmedAt = await keepConfirming({ client, cut, lost });
    return { confirmedAt, lost, close: () => client.end() };
  } catch (error) {
    cut();
    throw error;
  } finally {
    clearTimeout(openTimer);
  }
}

function whenLost(client: pg.Client): Promise<Error | undefined> {
  return new Promise((resolve) => {
    let reason: Error | undefined;
    client.on("error", (error) => {
      reason = error;
    });
    client.on("end", () => resolve(reason));
  });
}

/** Makes a round trip every 250 ms. Destroys a connection that takes too long to answer: it is half-open. */
async function keepConfirming(session: {
  client: pg.Client;
  cut: () => void;
  lost: Promise<unknown>;
}): Promise<() => number> {
  const { client, cut, lost } = session;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let pendingSince: number | undefined;

  async function makeRoundTrip(): Promise<void> {
    const beganAt = performance.now();
    pendingSince = beganAt;
    await client.query("select 1");
    pendingSince = undefined;
    confirmedAt = beganAt;
  }

  function isOverdue(): boolean {
    return pendingSince !== undefined && performance.now() - pendingSince >= answerWithinMs;
  }

  function tick(): void {
    // Fails immediately if the session is closing, and ends a close that gets no response.
    if (pendingSince === undefined) makeRoundTrip().catch(cut);
    // After a busy event loop, the timer fires before the waiting response is read: read first.
    if (isOverdue()) setImmediate(() => isOverdue() && cut());
  }

  await makeRoundTrip();
  const timer = setInterval(tick, roundTripEveryMs);
  void lost.then(() => clearInterval(timer));
  return () => confirmedAt;
}

/**
 * NOTIFY channels, each sent in the writing transaction. A notice is only a hint; the tables are the source of truth.
 */
export const channels = {
  /** A job's visible state changed; payload: job id. */
  jobChanged: "emend_job_changed",
  /** A job may be due; payload: project id. */
  jobDue: "emend_job_due",
  /** An active job was asked to stop; payload: job id. */
  stopAsked: "emend_stop_asked",
  /** A key was revoked or changed; payload: key id. */
  keyChanged: "emend_key_changed",
  /** A project was changed (sent by a trigger); payload: project id. */
  projectChanged: "emend_project_changed",
  /** A webhook delivery is due (sent by a trigger). */
  deliveryDue: "emend_delivery_due",
  /** A pull request must be polled now. */
  lookDue: "emend_look_due",
  /** A task was requested. */
  taskDue: "emend_task_due",
} as const;
export type Channel = (typeof channels)[keyof typeof channels];
