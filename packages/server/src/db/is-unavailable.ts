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

/** SQLSTATEs for a temporary state: shutdown, startup, a standby after a failover, a disk error. */
const sqlStates = new Set(["57P01", "57P02", "57P03", "57P05", "25006", "58030"]);
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
