import { createPool } from "../../src/db/pool.ts";
import { createLogger } from "../../src/lib/logger.ts";

/** The same server with another database. Not with `URL`, which refuses a socket folder as host. */
export function withDatabaseName(url: string, name: string): string {
  return url.replace(/^(\w+:\/\/[^/?]*)(\/[^?]*)?/, `$1/${name}`);
}

export async function runOnServer(url: string, statement: string): Promise<void> {
  const pool = createPool({ url, connectionsMax: 1, log: createLogger({ level: "warn" }) });
  await pool.query(statement).finally(() => pool.end());
}
