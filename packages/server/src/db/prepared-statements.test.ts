import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { openDatabase } from "../installation/open-database.ts";
import { assertPreparedStatements } from "./prepared-statements.ts";

const log = createLogger({ level: "silent" });
const database = await createTestDatabase();
afterAll(() => database.drop());

test("a pooler that shares prepared statements is refused by name, at start and in doctor", async () => {
  const pooler = await startDatabaseProxy(database.url, { sharesStatements: true });
  const config = loadConfig({ EMEND_DATABASE_URL: pooler.url, EMEND_SECRET: "a secret of thirty-two characters" });
  const { signal } = new AbortController();
  for (const holder of ["server", "command"] as const) {
    await expect(openDatabase({ config, log, connectionsMax: 2, holder, signal, migrates: false })).rejects.toThrow(
      /^EMEND_DATABASE_URL leads to a pooler .*PgBouncer before 1\.21/,
    );
  }
  await pooler.close();
});

test("a direct connection is accepted, and keeps nothing", async () => {
  await assertPreparedStatements(database.url, log);
  const { rows } = await database.pool.query(
    "select 1 from pg_stat_activity where application_name = 'emend probe' and datname = current_database()",
  );
  expect(rows).toEqual([]);
});
