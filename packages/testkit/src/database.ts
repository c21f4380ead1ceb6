import { randomBytes } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import { inject } from "vitest";
import { createPool, type Pool } from "../../server/src/db/pool.ts";
import { runOnServer, withDatabaseName } from "./server.ts";

export interface TestDatabase {
  url: string;
  pool: Pool;
  /** Ends the pool and drops the database, even if clients are still connected. */
  drop(): Promise<void>;
}

/** A separate migrated database, cloned from the run's template. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { url: serverUrl, template, major } = inject("testServer");
  const name = `emend_test_${process.pid}_${randomBytes(6).toString("hex")}`;
  // Half the processor time of the default, which writes every page of the template to the log too. Postgres 14 has no other.
  const strategy = major < 15 ? "" : "strategy file_copy";
  await runOnServer(serverUrl, `create database ${name} template ${template} ${strategy}`);
  const url = withDatabaseName(serverUrl, name);
  const pool = createPool({ url, connectionsMax: 10, log: createLogger({ level: "silent" }), name: "emend test" });
  return {
    url,
    pool,
    async drop() {
      if (!pool.ended) await pool.end();
      await runOnServer(serverUrl, `drop database if exists ${name} with (force)`);
    },
  };
}
