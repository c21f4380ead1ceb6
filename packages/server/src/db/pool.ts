import { Socket } from "node:net";
import type { Logger } from "@emend/base/logger.ts";
import pg from "pg";
import { readServers, ServerClient, turnOf } from "./server-client.ts";

export type Pool = pg.Pool;
export type Client = pg.PoolClient;
/** The pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

/** One pool per process. Broken connections are dropped and replaced; nothing here ends the process. */
export function createPool(options: {
  url: string;
  connectionsMax: number;
  log: Logger;
  name?: string;
  queryMsMax?: number;
}): Pool {
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    connectionString: options.url,
    Client: ServerClient as unknown as new () => pg.ClientBase,
    stream: () => openSocket(sockets),
    max: options.connectionsMax,
    application_name: options.name ?? "emend",
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // Without this, a connection whose server vanished would block its query for hours.
    query_timeout: options.queryMsMax ?? 10_000,
    keepAlive: true,
  });
  pool.on("error", (error) => options.log.warn({ err: error }, "idle database connection lost"));
  // A checked-out client reports a broken connection only to itself.
  pool.on("connect", (client) => {
    client.on("error", (error) => options.log.debug({ err: error }, "database connection lost"));
  });
  tryEachServer(pool, options.url);
  endWhole(pool, sockets);
  return pool;
}

/** One request for a connection tries every server of the URL, so that nobody notices which one is the primary now. */
function tryEachServer(pool: Pool, url: string): void {
  const servers = readServers(url)?.urls.length ?? 1;
  if (servers === 1) return;
  const connectOnce = pool.connect.bind(pool);
  async function connect(): Promise<Client> {
    for (let left = servers; ; left -= 1) {
      const turn = turnOf(url);
      try {
        return await connectOnce();
      } catch (error) {
        if (left === 1 || turnOf(url) === turn) throw error;
      }
    }
  }
  type Done = (error?: Error, client?: Client, release?: Client["release"]) => void;
  pool.connect = ((done?: Done) => {
    const connected = connect();
    if (!done) return connected;
    connected.then((client) => done(undefined, client, client.release.bind(client)), done);
    return undefined;
  }) as Pool["connect"];
}

function openSocket(open: Set<Socket>): Socket {
  const socket = new Socket();
  open.add(socket);
  return socket.once("close", () => open.delete(socket));
}

/** A connection that does not close in this time is destroyed: its server may have vanished. */
const goodbyeMsMax = 1_000;

/**
 * The library's `end` resolves once it has sent a goodbye on every connection, not once they are closed. If Postgres is
 * stopped in between, it logs errors (57P01) for the rest. And it forgets a connection that failed to log in, which
 * would keep the process alive until the server hangs up.
 */
function endWhole(pool: Pool, sockets: ReadonlySet<Socket>): void {
  const end = pool.end.bind(pool);
  pool.end = async () => {
    await end();
    const closed = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    const cut = setTimeout(() => {
      for (const socket of sockets) socket.destroy();
    }, goodbyeMsMax);
    await Promise.all(closed);
    clearTimeout(cut);
  };
}

/**
 * JSON text that jsonb accepts: U+0000 and lone surrogates become U+FFFD. `JSON.stringify` writes both as escapes, in
 * keys and values, so one pass over the escapes finds them.
 */
export function toJsonb(value: unknown): string {
  return JSON.stringify(value).replace(/\\(?:(u0000|ud[89a-f][0-9a-f]{2})|.)/g, (sequence, refused) =>
    refused ? "\uFFFD" : sequence,
  );
}

/** Text columns refuse U+0000. */
export function toText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
