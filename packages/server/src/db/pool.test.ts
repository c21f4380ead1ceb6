import { createLogger } from "@emend/base/logger.ts";
import { createTestDatabase } from "@emend/testkit/database.ts";
import { startDatabaseProxy } from "@emend/testkit/database-proxy.ts";
import { expect, it } from "vitest";
import { createPool, type Pool } from "./pool.ts";

const log = createLogger({ level: "silent" });

/** Opens some connections at once and counts those that have been closed. */
async function openSome(pool: Pool): Promise<{ closed: number }> {
  const seen = { closed: 0 };
  pool.on("connect", (client) => client.once("end", () => (seen.closed += 1)));
  await Promise.all([1, 2, 3].map(() => pool.query("select pg_sleep(0.05)")));
  return seen;
}

it("has closed every connection when close() resolves, so that Postgres stops without errors", async () => {
  const database = await createTestDatabase();
  const pool = createPool({ url: database.url, connectionsMax: 3, log });
  const seen = await openSome(pool);
  await pool.end();
  expect(seen.closed).toBe(3);
  await database.drop();
});

it("ends even if the server does not close the connection", async () => {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.url);
  const pool = createPool({ url: proxy.url, connectionsMax: 3, log });
  const seen = await openSome(pool);
  proxy.silence();
  await pool.end();
  expect(seen.closed).toBe(3);
  await proxy.close();
  await database.drop();
});
