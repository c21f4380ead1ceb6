import type { Logger } from "@emend/base/logger.ts";
import { AppError } from "../errors.ts";
import { createPool } from "./pool.ts";

/** A pooler gives both clients the same server, or one client two: either way, one of the turns fails. */
const turns = 3;

/** SQLSTATEs: a prepared statement that another client made, and one that was made elsewhere. */
const mixedUp = new Set(["42P05", "26000"]);

/**
 * Two clients prepare a statement of one name, and use it in turns, each time in a transaction of its own. A pooler that
 * mixes their servers without knowing prepared statements (PgBouncer before 1.21 in transaction mode) is refused here,
 * instead of failing every second request.
 */
export async function assertPreparedStatements(url: string, log: Logger): Promise<void> {
  const pool = createPool({ url, connectionsMax: 2, log, name: "emend probe" });
  const statement = { name: `emend-probe-${crypto.randomUUID()}`, text: "select 1" };
  try {
    const clients = [await pool.connect(), await pool.connect()];
    try {
      for (let turn = 0; turn < turns; turn += 1) for (const client of clients) await client.query(statement);
    } finally {
      for (const client of clients) client.release(true);
    }
  } catch (error) {
    if (!mixedUp.has((error as { code?: string }).code ?? "")) throw error;
    throw new AppError("unavailable", {
      publicMessage: "the database is not available",
      message:
        "EMEND_DATABASE_URL leads to a pooler that loses prepared statements, as PgBouncer before 1.21 in transaction mode: " +
        "use 1.21 or newer with max_prepared_statements above 0, session mode, or a direct connection",
    });
  } finally {
    await pool.end();
  }
}
