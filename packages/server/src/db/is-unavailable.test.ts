import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { afterAll, expect, test } from "vitest";
import { AppError } from "../errors.ts";
import { createPool } from "./pool.ts";
import { isDatabaseUnavailable } from "./transaction.ts";

const log = createLogger({ level: "silent" });
const database = await createTestDatabase();
afterAll(() => database.drop());

async function errorOf(url: string, statement = "select 1"): Promise<unknown> {
  const pool = createPool({ url, connectionsMax: 1, log });
  const error = await pool.query(statement).catch((reason: unknown) => reason);
  await pool.end();
  return error;
}

test("a refused connection, by address and by name", async () => {
  const proxy = await startDatabaseProxy(database.url);
  await proxy.close();
  expect(isDatabaseUnavailable(await errorOf(proxy.url))).toBe(true);
  expect(isDatabaseUnavailable(await errorOf(proxy.url.replace("127.0.0.1", "localhost")))).toBe(true);
});

test("a socket that is not there", async () => {
  expect(isDatabaseUnavailable(await errorOf("postgresql://emend@%2Fnowhere/emend"))).toBe(true);
});

test("a connection ended by the server, under a query", async () => {
  const error = await errorOf(database.url, "select pg_terminate_backend(pg_backend_pid())");
  expect(isDatabaseUnavailable(error)).toBe(true);
});

test("a connection cut under a query", async () => {
  const proxy = await startDatabaseProxy(database.url);
  const error = errorOf(proxy.url, "select pg_sleep(30)");
  const waiting = "select 1 from pg_stat_activity where query = 'select pg_sleep(30)' and datname = current_database()";
  await expect.poll(async () => (await database.pool.query(waiting)).rowCount).toBe(1);
  proxy.cut();
  expect(isDatabaseUnavailable(await error)).toBe(true);
  await proxy.close();
});

test.each(["57P01", "57P03", "53300", "53100", "08006", "25006"])("the server's refusal %s", (code) => {
  expect(isDatabaseUnavailable(Object.assign(new Error("refused"), { code }))).toBe(true);
});

test("not a mistake in a query, a violated constraint, a missing file or another service that is away", async () => {
  expect(isDatabaseUnavailable(await errorOf(database.url, "select nothing"))).toBe(false);
  expect(isDatabaseUnavailable(Object.assign(new Error("duplicate"), { code: "23505" }))).toBe(false);
  expect(isDatabaseUnavailable(Object.assign(new Error("no file"), { code: "ENOENT", syscall: "open" }))).toBe(false);
  const cause = Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  expect(isDatabaseUnavailable(new AppError("forge_unavailable", { publicMessage: "away", cause }))).toBe(false);
  expect(isDatabaseUnavailable("ECONNREFUSED")).toBe(false);
});
