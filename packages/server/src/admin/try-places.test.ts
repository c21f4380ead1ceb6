import { createTestDatabase } from "@emend/testkit/database.ts";
import { freePort } from "@emend/testkit/listen.ts";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { tryDatabases, tryFolderOf } from "./try-places.ts";

const database = await createTestDatabase();
afterAll(() => database.drop());

function tryWith(env: Record<string, string>) {
  return tryDatabases(
    loadConfig({ EMEND_DATABASE_URL: database.url, EMEND_SECRET: "a secret of thirty-two characters", ...env }),
  );
}

test("each database of the settings is tried, and named if it does not answer", async () => {
  expect(await tryWith({ EMEND_DATABASE_READ_URL: database.url })).toEqual([
    { name: "notices", problem: null },
    { name: "replica", problem: null },
  ]);
  const away = `postgres://emend@127.0.0.1:${await freePort()}/emend`;
  expect(await tryWith({ EMEND_DATABASE_LISTEN_URL: away, EMEND_DATABASE_READ_URL: away })).toEqual([
    { name: "notices", problem: expect.stringMatching(/^EMEND_DATABASE_LISTEN_URL .*ECONNREFUSED/) },
    { name: "replica", problem: expect.stringMatching(/^EMEND_DATABASE_READ_URL .*ECONNREFUSED/) },
  ]);
});

test("a folder that cannot be written is found by a write, also before it exists", async () => {
  expect(await tryFolderOf("/proc/nowhere/deeper")).toMatch(/^\/proc cannot be written \(E[A-Z]+\)\.$/);
  expect(await tryFolderOf("/tmp/emend-not-there/deeper")).toBe(null);
});
