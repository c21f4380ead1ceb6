import pg from "pg";
import type { Logger } from "../lib/logger.ts";

export type Pool = pg.Pool;
export type Client = pg.PoolClient;
/** What a query function takes: the pool, or a client inside a transaction. */
export type Queryable = Pick<pg.Pool, "query">;

/** One pool a process. Connections that break are dropped and made anew; nothing here ends the process. */
export function createPool(options: {
  url: string;
  connectionsMax: number;
  log: Logger;
  name?: string;
  queryMsMax?: number;
}): Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    application_name: options.name ?? "emend",
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    // A connection whose far end vanished without a word would otherwise hold its query for hours.
    query_timeout: options.queryMsMax ?? 10_000,
    keepAlive: true,
  });
  pool.on("error", (error) => options.log.warn({ err: error }, "idle database connection lost"));
  // A client that is lent out tells nobody but itself when its connection breaks between two queries.
  pool.on("connect", (client) => {
    client.on("error", (error) => options.log.debug({ err: error }, "database connection lost"));
  });
  endWhole(pool);
  return pool;
}

/** A connection that does not close in this time is cut: its far end may have vanished. */
const goodbyeMsMax = 1_000;

/**
 * The library's `end` resolves once it has said goodbye on every connection, not once they are closed. A Postgres that is
 * stopped in between tells those that are left that it ends them (57P01), which looks like trouble in the log.
 */
function endWhole(pool: Pool): void {
  const open = new Map<pg.ClientBase, Promise<unknown>>();
  pool.on("connect", (client) => {
    const closed = new Promise((resolve) => client.once("end", resolve));
    open.set(client, closed);
    void closed.then(() => open.delete(client));
  });
  const end = pool.end.bind(pool);
  pool.end = async () => {
    await end();
    const cut = setTimeout(() => {
      for (const client of open.keys()) (client as unknown as Cuttable).connection.stream.destroy();
    }, goodbyeMsMax);
    await Promise.all(open.values());
    clearTimeout(cut);
  };
}

interface Cuttable {
  connection: { stream: { destroy(): void } };
}
