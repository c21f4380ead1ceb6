import { afterAll, expect, test } from "vitest";
import { createTestDatabase } from "./database.ts";

const databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
afterAll(() => Promise.all(databases.map((database) => database.drop())));

test("each test database is migrated and apart from the others", async () => {
  const [one, other] = databases;
  await one?.pool.query("insert into projects (id, name, forge, repository_url) values ('p', 'p', 'local', 'x')");
  const { rows } = (await other?.pool.query("select count(*)::int as n from projects")) ?? { rows: [] };
  expect(rows).toEqual([{ n: 0 }]);
});

test("a dropped database is gone, whoever is still connected", async () => {
  const database = await createTestDatabase();
  const client = await database.pool.connect();
  client.on("error", () => {});
  client.release();
  await database.drop();
  const { rows } = await databases[0].pool.query("select 1 from pg_database where $1 like '%/' || datname", [
    database.url,
  ]);
  expect(rows).toEqual([]);
});
