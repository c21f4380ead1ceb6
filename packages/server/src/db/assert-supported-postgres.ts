import { AppError } from "../errors.ts";
import type { Queryable } from "./pool.ts";

const versionMin = 14;

/** Refuses an unsupported server with a message, before it fails later and less clearly. */
export async function assertSupportedPostgres(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ number: number; version: string; encoding: string; standby: boolean }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
            current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby`,
  );
  const problem = rows[0] && findProblem(rows[0]);
  if (!problem) return;
  throw new AppError("unavailable", { publicMessage: "the database is not available", message: problem });
}

export function findProblem(server: {
  number: number;
  version: string;
  encoding: string;
  standby: boolean;
}): string | undefined {
  if (server.number < versionMin * 10_000) {
    return `EMEND_DATABASE_URL names Postgres ${server.version}; Emend needs ${versionMin} or later`;
  }
  if (server.encoding !== "UTF8") {
    return `EMEND_DATABASE_URL names a database in ${server.encoding}; create one with: create database emend template template0 encoding 'UTF8'`;
  }
  if (server.standby) return "EMEND_DATABASE_URL names a read-only standby; name the primary";
  return undefined;
}
