import { randomInt, randomUUID } from "node:crypto";
import { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "@emend/base/logger.ts";
import type pg from "pg";
import { AppError } from "../errors.ts";
import { createPool, type Pool } from "./pool.ts";
import { readServers, ServerClient } from "./server-client.ts";

/** One LISTEN connection per process, which knows how fresh it is, and shows others that the process lives. */
export interface Listener {
  on(channel: Channel, handler: (payload: string) => void): () => void;
  /**
   * Called after a reconnect: notices may have been missed. Clear the cache, and do not cache what a query that began
   * before this call returns.
   */
  onReset(handler: () => void): () => void;
  /** Locked in the database while this process is connected: others see when it is gone. */
  holder: number;
  /** True if a notice that was sent within the last 900 ms has arrived: cached values are valid. */
  isFresh(): boolean;
  close(): Promise<void>;
}

interface ListenerOptions {
  /** Where the other connections write, and notify. */
  url: string;
  /** A direct connection to the same database, if `url` leads to a pooler. */
  listenUrl?: string | null;
  log: Logger;
  /** What it listens to: each notice wakes every process that listens to its channel. All, if not given. */
  channels?: readonly Channel[];
  /** A random number, unless a test gives one. */
  holder?: number;
  /** Aborts the wait for the first connection. */
  signal?: AbortSignal;
}

const freshForMs = 900;
const retryAfterMsMin = 50;
const retryAfterMsMax = 1_000;

/** Notices may be late on a server that is starting. After this many silent connections, they do not arrive at all. */
const deafMax = 3;

/**
 * Resolves once a notice has arrived, and reconnects automatically from then on. Rejects if no server of the URL can be
 * reached, or if notices do not arrive: a pooler that shares a connection between transactions accepts LISTEN and drops
 * them.
 */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const { log } = options;
  const url = options.listenUrl ?? options.url;
  const noticeHandlers = new Map<string, Set<(payload: string) => void>>();
  const resetHandlers = new Set<() => void>();
  const closing = new AbortController();
  const stopSignal = options.signal ? AbortSignal.any([closing.signal, options.signal]) : closing.signal;
  // Its own connection: a busy pool must not make the listener look deaf. It writes where the other writers do, so what
  // it proves holds for them.
  const notifier = createPool({ url: options.url, connectionsMax: 1, log, name: "emend notifier", queryMsMax: 2_000 });
  const { holder = randomInt(2 ** 31), channels: heard = Object.values(channels) } = options;
  let session: ListenSession | undefined = await connect(stopSignal, { isFirst: true }).catch(async (error) => {
    await notifier.end();
    throw error;
  });
  const following = follow(session);

  /** Only the first connection is given up: a listener that once worked waits for its server. */
  async function connect(signal: AbortSignal, { isFirst = false } = {}): Promise<ListenSession> {
    let silent = 0;
    let failed = 0;
    for (let retryAfterMs = retryAfterMsMin; ; retryAfterMs = Math.min(retryAfterMs * 2, retryAfterMsMax)) {
      signal.throwIfAborted();
      try {
        return await openListenSession({ url, holder, notifier, channels: heard, onNotice: deliver });
      } catch (error) {
        if (error instanceof NoNotice) silent += 1;
        else failed += 1;
        if (isFirst && silent >= deafMax) throw deafError(options);
        if (isFirst && failed >= (readServers(url)?.urls.length ?? 1)) throw error;
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
    holder,
    on(channel, handler) {
      if (!heard.includes(channel)) throw new Error(`this process does not listen to ${channel}`);
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
      if (!notifier.ending) await notifier.end();
    },
  };
}

/** LISTEN and NOTIFY were accepted, and the notice did not arrive. */
class NoNotice extends Error {}

function deafError({ listenUrl }: ListenerOptions): AppError {
  const message = listenUrl
    ? "EMEND_DATABASE_LISTEN_URL gets no notices: it must lead to the database of EMEND_DATABASE_URL, without a pooler in transaction mode"
    : "EMEND_DATABASE_URL gets no notices, as behind PgBouncer in transaction mode: set EMEND_DATABASE_LISTEN_URL to a direct connection";
  return new AppError("unavailable", { publicMessage: "the database is not available", message });
}

/** One LISTEN connection, from its first notice until it is lost. */
interface ListenSession {
  /** When the last notice that returned was sent, by `performance.now()`. Notices committed before it have arrived. */
  confirmedAt(): number;
  /** Settles when the connection is lost, with the reason if known. */
  lost: Promise<Error | undefined>;
  close(): Promise<void>;
}

interface SessionOptions {
  url: string;
  holder: number;
  notifier: Pool;
  channels: readonly string[];
  onNotice(channel: string, payload: string): void;
}

/** Any constant works, if every Emend uses the same one. */
export const holderLocks = 0x656d_656e;

const roundTripEveryMs = 250;
const answerWithinMs = 900;
const openWithinMs = 3_000;

async function openListenSession(options: SessionOptions): Promise<ListenSession> {
  // Our own socket, to destroy it: the driver's close waits for a response, which a half-open connection never sends.
  const socket = new Socket();
  const cut = () => void socket.destroy();
  const client = new ServerClient({
    connectionString: options.url,
    stream: () => socket,
    application_name: "emend listener",
    keepAlive: true,
  });
  const lost = whenLost(client);
  // A channel of its own: other processes are not woken by it.
  const echo = `emend_echo_${randomUUID().replaceAll("-", "")}`;
  client.on("notification", ({ channel, payload }) => {
    if (channel !== echo) options.onNotice(channel, payload ?? "");
  });
  const openTimer = setTimeout(cut, openWithinMs);
  try {
    await client.connect();
    const names = [...options.channels, echo].map((channel) => client.escapeIdentifier(channel));
    // Shared: a session of this process that was lost may still have it.
    const hold = `select pg_advisory_lock_shared(${holderLocks}, ${options.holder})`;
    await client.query([...names.map((name) => `listen ${name}`), hold].join(";"));
    const confirmedAt = await keepConfirming({ client, notifier: options.notifier, echo, cut, lost });
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

/**
 * Sends a notice to itself every 250 ms, and counts only its return. Nothing else is sent on the listening connection:
 * a pooler may deliver a notice together with the answer to a query, and at no other time. Destroys a connection that
 * takes too long: it is half-open, or deaf.
 */
async function keepConfirming(session: {
  client: pg.Client;
  notifier: Pool;
  echo: string;
  cut: () => void;
  lost: Promise<unknown>;
}): Promise<() => number> {
  const { client, notifier, echo, cut, lost } = session;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let pending: { nonce: string; beganAt: number } | undefined;
  let isSent = false;
  const first = Promise.withResolvers<void>();

  client.on("notification", ({ channel, payload }) => {
    if (pending === undefined || channel !== echo || payload !== pending.nonce) return;
    confirmedAt = pending.beganAt;
    pending = undefined;
    first.resolve();
  });

  function sendNotice(): void {
    pending = { nonce: randomUUID(), beganAt: performance.now() };
    notifier.query("select pg_notify($1, $2)", [echo, pending.nonce]).then(() => {
      isSent = true;
    }, cut);
  }

  function isOverdue(): boolean {
    return pending !== undefined && performance.now() - pending.beganAt >= answerWithinMs;
  }

  function tick(): void {
    if (pending === undefined) sendNotice();
    // After a busy event loop, the timer fires before the waiting notice is read: read first.
    if (isOverdue()) setImmediate(() => isOverdue() && cut());
  }

  void lost.then((error) =>
    first.reject(
      isSent
        ? new NoNotice("no notice arrived")
        : (error ?? new Error("Connection terminated: no notice could be sent")),
    ),
  );
  sendNotice();
  const timer = setInterval(tick, roundTripEveryMs);
  void lost.then(() => clearInterval(timer));
  await first.promise;
  return () => confirmedAt;
}

/**
 * NOTIFY channels. A notice is only a hint; the tables are the source of truth.
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
