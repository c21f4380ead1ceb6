import type { Logger } from "@emend/base/logger.ts";
import type { Pool, Queryable } from "./pool.ts";
import { isDatabaseUnavailable } from "./transaction.ts";

/** After a replica was away, it is asked again this much later. */
const awayMs = 10_000;

/**
 * For what may be seconds old: searches, and older pages of lists. Asks the replica, and the primary while that is away or has
 * not replayed a migration yet.
 */
export function createLateReads(deps: { replica: Pool; primary: Pool; log: Logger }): Queryable {
  let askAgainAtMs = 0;
  const query = async (text: string, values?: unknown[]) => {
    if (performance.now() < askAgainAtMs) return deps.primary.query(text, values);
    try {
      return await deps.replica.query(text, values);
    } catch (error) {
      if (!isDatabaseUnavailable(error) && !isUnusable(error)) throw error;
      deps.log.warn({ err: error }, "the replica did not answer; the primary is asked");
      askAgainAtMs = performance.now() + awayMs;
      return deps.primary.query(text, values);
    }
  };
  return { query: query as Queryable["query"] };
}

/** No such table or column yet, or a query that the replica cancelled because of what it replays. */
function isUnusable(error: unknown): boolean {
  return ["42P01", "42703", "42883", "40001"].includes((error as { code?: string }).code ?? "");
}
