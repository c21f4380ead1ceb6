/** SQLSTATE classes and codes that say "not now": connection lost, shutting down or starting, out of resources. */
const awayStates = /^(08...|53...|57P0[1-5]|58...|XX...|40001|40P01|25006|25P0[34])$/;
const awayErrnos = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "ENOENT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);
/** What pg throws without any code when a connection breaks under a query or cannot be had. */
const awayMessages = [
  "Connection terminated",
  "timeout exceeded when trying to connect",
  "timeout expired",
  "Client has encountered a connection error",
  "Client was closed",
  "Query read timeout",
];

/** True where the same statement may succeed later: the database is away, not the statement wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isDatabaseAway);
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  // Files and other sockets raise the same numbers: only a connection's own calls count.
  if (typeof code === "string" && awayErrnos.has(code)) {
    return (
      syscall === undefined ||
      syscall === "connect" ||
      syscall === "read" ||
      syscall === "write" ||
      syscall === "getaddrinfo"
    );
  }
  if (typeof code === "string") return awayStates.test(code) && "severity" in error;
  return awayMessages.some((message) => error.message.startsWith(message));
}
