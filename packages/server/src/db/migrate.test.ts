// Costly: it migrates an empty database; the others begin with a migrated copy.
import { createHash } from "node:crypto";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createLogger } from "@emend/base/logger.ts";
import { runOnServer, withDatabaseName } from "@emend/testkit/server.ts";
import { afterAll, expect, inject, onTestFinished, test } from "vitest";
import { knownSchema, migrate } from "./migrate.ts";
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
  expect(first?.[0]).toBe("0100-baseline.sql");
  expect(others).toEqual([[], []]);
  expect(await migrate(pool)).toEqual([]);
});

test("a release refuses to start on a database that is newer, and names both", async () => {
  await pool.query("insert into migrations (name) values ('9999-newer.sql')");
  await expect(migrate(pool)).rejects.toThrow(`9999-newer, which is newer than ${await knownSchema()} of this release`);
  await pool.query("delete from migrations where name = '9999-newer.sql'");
  expect(await migrate(pool)).toEqual([]);
});

test("a database of the last schema before the baseline goes on, and an older one is refused", async () => {
  await pool.query("update migrations set name = '0100-approvals.sql' where name = '0100-baseline.sql'");
  await pool.query("insert into migrations (name) values ('0001-backbone.sql')");
  expect(await migrate(pool)).toEqual([]);
  const { rows } = await pool.query("select name from migrations order by name");
  expect(rows[0]).toEqual({ name: "0100-baseline.sql" });

  await pool.query("update migrations set name = '0095-trusted-origins.sql' where name = '0100-baseline.sql'");
  const { rows: later } = await pool.query("delete from migrations where name > '0100' returning name");
  await expect(migrate(pool)).rejects.toThrow(/0095-trusted-origins, from before 0\.1\.0; start Emend's commit \w{8} /);
  await pool.query("update migrations set name = '0100-baseline.sql' where name = '0095-trusted-origins.sql'");
  for (const { name } of later) await pool.query("insert into migrations (name) values ($1)", [name]);
});

test("a function that changed has a numbered file that applies it", async () => {
  const read = async (folder: URL) => {
    const names = (await readdir(folder)).sort();
    return Promise.all(names.map((file) => readFile(new URL(file, folder), "utf8")));
  };
  const state = createHash("sha256")
    .update((await read(new URL("./functions/", import.meta.url))).join(""))
    .digest("hex");
  const named = (await read(new URL("./migrations/", import.meta.url))).join("").matchAll(/^-- functions: (\w+)$/gm);
  expect(
    [...named].at(-1)?.[1],
    "db/functions changed: add a numbered file with the line `-- functions: ` and the new state to db/migrations",
  ).toBe(state.slice(0, 16));
});

test("a node of the release before does not bring its functions back", async () => {
  await pool.query(
    "create or replace function wire_time(at timestamptz) returns text stable language sql return 'newer'",
  );
  await migrate(pool);
  expect((await pool.query("select wire_time(now()) as time")).rows).toEqual([{ time: "newer" }]);
  const folder = pathToFileURL(`${await mkdtemp(join(tmpdir(), "emend-migrate-"))}/`);
  onTestFinished(() => rm(folder, { recursive: true }));
  await cp(new URL("./migrations/", import.meta.url), folder, { recursive: true });
  await writeFile(new URL("9998-later.sql", folder), "select 1;");
  expect(await migrate(pool, folder)).toEqual(["9998-later.sql"]);
  await pool.query("delete from migrations where name = '9998-later.sql'");
  expect((await pool.query("select wire_time(now()) as time")).rows).not.toEqual([{ time: "newer" }]);
});

/** Changes that would break a node which still runs the previous release. */
const breaking: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /\bdrop\s+(table|column|view|function|type)\b/i,
    "takes something away: stop using it in one release, drop it in the next",
  ],
  [/\brename\b/i, "renames: add the new name, write both, drop the old one two releases later"],
  [/\balter\s+column\b.*\b(type|set\s+not\s+null)\b/i, "narrows a column that the release before writes"],
  [
    /\badd\s+column\b(?!.*\b(default|generated)\b).*\bnot\s+null\b/i,
    "asks for a value that the release before does not give",
  ],
];

function faultsOf(text: string): readonly string[] {
  const statements = text.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").split(";");
  return statements.flatMap((one) => breaking.filter(([pattern]) => pattern.test(one)).map(([, why]) => why));
}

test("migrations only add, so nodes of two releases share a database while one replaces the other", async () => {
  const wrong =
    "drop table a; alter table a rename to b; alter table a alter column b set not null; alter table a add column c int not null";
  expect(faultsOf(wrong)).toEqual(breaking.map(([, why]) => why));
  const folder = new URL("./migrations/", import.meta.url);
  for (const file of (await readdir(folder)).filter((one) => one > "0100-baseline.sql"))
    expect(faultsOf(await readFile(new URL(file, folder), "utf8")), file).toEqual([]);
});
