// Costly: an encoding belongs to a whole database.
import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { afterAll, expect, inject, test } from "vitest";
import { assertSupportedPostgres, findProblem } from "./migrate.ts";
import { createPool } from "./pool.ts";

const { url: serverUrl } = inject("testServer");
const oddName = `emend_odd_${process.pid}`;
const database = await createTestDatabase();
afterAll(async () => {
  await database.drop();
  await runOnServer(serverUrl, `drop database if exists ${oddName} with (force)`);
});

test("the server that the tests run on is supported", async () => {
  await expect(assertSupportedPostgres(database.pool)).resolves.toBeUndefined();
});

test("a database in another encoding is refused with the statement that makes a good one", async () => {
  const { rows } = await database.pool.query("select current_setting('server_version_num')::int >= 150000 as knows");
  const provider = rows[0]?.knows ? "locale_provider libc" : "";
  await runOnServer(
    serverUrl,
    `create database ${oddName} template template0 encoding 'SQL_ASCII' locale 'C' ${provider}`,
  );
  const url = withDatabaseName(serverUrl, oddName);
  const pool = createPool({ url, connectionsMax: 1, log: createLogger({ level: "silent" }) });
  await expect(assertSupportedPostgres(pool)).rejects.toThrow(/in SQL_ASCII.*encoding 'UTF8'/);
  await pool.end();
});

test("a server before 14 and a standby are refused by name", () => {
  const server = { number: 140_000, version: "14.0", encoding: "UTF8", standby: false };
  expect(findProblem(server)).toBeUndefined();
  expect(findProblem({ ...server, number: 130_018, version: "13.18" })).toMatch(/Postgres 13.18.*14 or later/);
  expect(findProblem({ ...server, standby: true })).toMatch(/standby/);
});
