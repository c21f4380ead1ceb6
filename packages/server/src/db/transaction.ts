import type { Client, Pool, Queryable } from "./pool.ts";

/** A transaction waits for its own process this many times the longest query. After that the process is taken as lost. */
const idleQueries = 3;

/**
 * Runs `work` in one transaction. A connection that failed to roll back is discarded. If this process vanishes, Postgres
 * ends the transaction: its locks would otherwise block the others for hours, until the operating system gives up on the
 * connection.
 */
export async function inTransaction<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that breaks between two queries emits an error event, which without a listener ends the process.
  const hear = (error: Error) => {
    broken = error;
  };
  client.on("error", hear);
  try {
    // Not a setting of the connection: PgBouncer refuses those.
    const idleMsMax = idleQueries * (pool.options.query_timeout ?? 10_000);
    await client.query(`begin; set local idle_in_transaction_session_timeout = ${idleMsMax}`);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    // If the connection failed, a rollback would only wait for it.
    if (isDatabaseUnavailable(error)) broken = error as Error;
    else {
      await client.query("rollback").catch((rollbackError: Error) => {
        broken = rollbackError;
      });
    }
    throw error;
  } finally {
    client.off("error", hear);
    client.release(broken);
  }
}

/** Who makes a change, for the audit log: a person's email address, `console`, or a key. */
export interface Actor {
  name: string;
  /** The request's address, or null if there is none. */
  address: string | null;
}

export const consoleActor: Actor = { name: "console", address: null };

/** Runs `work` in one transaction that the audit log attributes to `actor`. */
export async function inTransactionAs<T>(pool: Pool, actor: Actor, work: (client: Client) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await actAs(client, actor);
    return work(client);
  });
}

/** For the rest of this transaction: the audit log's triggers read the actor. */
export async function actAs(client: Client, actor: Actor): Promise<void> {
  await client.query("select set_config('emend.actor', $1, true), set_config('emend.address', $2, true)", [
    actor.name,
    actor.address ?? "",
  ]);
}

/** For functions that make their change in one query: each is its own transaction, attributed to `actor`. */
export function asActor(pool: Pool, actor: Actor): Queryable {
  const query = (text: string, values?: unknown[]) =>
    inTransactionAs(pool, actor, (client) => client.query(text, values));
  return { query: query as Queryable["query"] };
}

/** Node's error codes for a server that cannot be reached. */
const systemCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ENOENT", // the socket's file, while the embedded server is down
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** For a transaction that waits long for something other than the database. It must hold no locks that others need. */
export async function allowLongPauses(client: Client): Promise<void> {
  await client.query("set local idle_in_transaction_session_timeout = 0");
}

/** SQLSTATEs for a temporary state: shutdown, startup, an idle transaction, a standby after a failover, a disk error. */
const sqlStates = new Set(["25P03", "57P01", "57P02", "57P03", "57P05", "25006", "58030"]);
/** Whole classes: connection exceptions; insufficient resources (too many connections, disk full, out of memory). */
const sqlStateClasses = new Set(["08", "53"]);

// The driver gives these no code, so the message is compared.
const driverWords =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (was closed|has encountered a connection error) and is not queryable)/;

/**
 * Whether a query failed because the database is unavailable, so that a retry may succeed. Only the error itself is
 * judged, not its causes: a forge that refused a connection says nothing about the database.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // Every address of a host name was tried.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isDatabaseUnavailable);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined) return driverWords.test(error.message);
  if (systemCodes.has(code)) return code !== "ENOENT" || syscall === "connect";
  return sqlStates.has(code) || (code.length === 5 && sqlStateClasses.has(code.slice(0, 2)));
}
