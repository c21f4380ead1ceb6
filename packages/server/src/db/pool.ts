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
  return pool;
}
