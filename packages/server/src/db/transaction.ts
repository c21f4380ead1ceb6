import { isDatabaseUnavailable } from "./is-unavailable.ts";
import type { Client, Pool } from "./pool.ts";

/** Runs `work` in one transaction. A connection that failed to roll back is discarded. */
export async function inTransaction<T>(pool: Pool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // A connection that breaks between two queries emits an error event, which without a listener ends the process.
  const hear = (error: Error) => {
    broken = error;
  };
  client.on("error", hear);
  try {
    await client.query("begin");
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
