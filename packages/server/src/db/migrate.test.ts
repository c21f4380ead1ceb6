import { afterAll, expect, inject, test } from "vitest";
import { runOnServer, withDatabaseName } from "../../test/support/server.ts";
import { createLogger } from "../lib/logger.ts";
import { migrate } from "./migrate.ts";
import { createPool } from "./pool.ts";

const { url: serverUrl } = inject("testServer");
const name = `emend_migrate_${process.pid}`;
await runOnServer(serverUrl, `create database ${name} template template0 encoding 'UTF8'`);
const pool = createPool({
  url: withDatabaseName(serverUrl, name),
  connectionsMax: 4,
  log: createLogger({ level: "silent" }),
});
afterAll(async () => {
  await pool.end();
  await runOnServer(serverUrl, `drop database ${name} with (force)`);
});

test("nodes that start together migrate once, and a later one finds nothing to do", async () => {
  const results = await Promise.all([migrate(pool), migrate(pool), migrate(pool)]);
  const [first, ...others] = results.sort((a, b) => b.length - a.length);
  expect(first?.[0]).toBe("0001-backbone.sql");
  expect(others).toEqual([[], []]);
  expect(await migrate(pool)).toEqual([]);
});
