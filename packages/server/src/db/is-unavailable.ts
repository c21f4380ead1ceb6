/** Codes of Node's own for a server that cannot be reached, or no longer. */
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

/** SQLSTATEs that say "not now": shutdown, start-up, a standby after a fail-over, a disk error. */
const sqlStates = new Set(["57P01", "57P02", "57P03", "57P05", "25006", "58030"]);
/** Whole classes: connection exceptions; insufficient resources (too many connections, disk full, out of memory). */
const sqlStateClasses = new Set(["08", "53"]);

// The driver gives these no code, so its words are all there is.
const driverWords =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Query read timeout|Client (was closed|has encountered a connection error) and is not queryable)/;

/**
 * Whether a query failed because the database is away, so that the same query may succeed later. Only the error itself
 * is judged, not its causes: a forge that refused a connection says nothing about the database.
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
