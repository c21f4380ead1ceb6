import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { afterAll, expect, test } from "vitest";
import { createPool } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

const database = await createTestDatabase();
await database.pool.query("create table numbers (n integer)");
afterAll(() => database.drop());

async function countNumbers(): Promise<number> {
  return (await database.pool.query("select count(*)::int as n from numbers")).rows[0].n;
}

test("a failure undoes all of it, and the connection serves on", async () => {
  const attempt = inTransaction(database.pool, async (client) => {
    await client.query("insert into numbers values (1)");
    throw new Error("changed my mind");
  });
  await expect(attempt).rejects.toThrow("changed my mind");
  expect(await countNumbers()).toBe(0);
  await inTransaction(database.pool, (client) => client.query("insert into numbers values (2)"));
  expect(await countNumbers()).toBe(1);
});

test("a connection that broke is thrown away, and the pool makes another", async () => {
  const proxy = await startDatabaseProxy(database.url);
  const pool = createPool({ url: proxy.url, connectionsMax: 1, log: createLogger({ level: "silent" }) });
  const before = await countNumbers();
  const attempt = inTransaction(pool, async (client) => {
    await client.query("insert into numbers values (3)");
    proxy.cut();
    await client.query("select 1");
  });
  await expect(attempt).rejects.toThrow();
  await inTransaction(pool, (client) => client.query("insert into numbers values (4)"));
  expect(await countNumbers()).toBe(before + 1);
  expect(proxy.accepted()).toBe(2);
  await pool.end();
  await proxy.close();
});

test("the locks of a process that vanished are released", async () => {
  const proxy = await startDatabaseProxy(database.url);
  const pool = createPool({
    url: proxy.url,
    connectionsMax: 1,
    log: createLogger({ level: "silent" }),
    queryMsMax: 100,
  });
  await database.pool.query("insert into numbers values (5)");
  await inTransaction(pool, async (client) => {
    await client.query("update numbers set n = 6 where n = 5");
    proxy.silence();
    // Waits for a lock that the vanished transaction has.
    const other = await database.pool.query("update numbers set n = 7 where n = 5");
    expect(other.rowCount).toBe(1);
    throw new Error("released");
  }).catch((error: Error) => expect(error.message).toBe("released"));
  await pool.end();
  await proxy.close();
});
