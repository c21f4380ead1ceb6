import { readdir, readFile } from "node:fs/promises";
import { AppError } from "../errors.ts";
import type { Pool, Queryable } from "./pool.ts";
import { inTransaction } from "./transaction.ts";

const migrationsDir = new URL("./migrations/", import.meta.url);
const functionsDir = new URL("./functions/", import.meta.url);
/** Made at once what the numbered files before 0.1.0 had made one after the other. The last of them names the same schema. */
const baseline = { name: "0100-baseline.sql", replaces: "0100-approvals.sql", commitBefore: "cb98b9cf" };
/** Any constant works, if every Emend uses the same one. */
const lockId = 0x656d_656e;

/**
 * Applies the pending numbered SQL files in order, in one transaction under an advisory lock, so that nodes that start
 * together migrate once. Forward only. Functions and triggers are defined anew after them, and only then: a node of the
 * release before must not bring its own back. So a changed function needs a numbered file too.
 */
export async function migrate(pool: Pool, folder = migrationsDir): Promise<readonly string[]> {
  const files = await sqlFilesIn(folder);
  return inTransaction(pool, async (client) => {
    await client.query(patient(`select pg_advisory_xact_lock(${lockId})`));
    await client.query(
      "create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())",
    );
    const { rows } = await client.query<{ name: string }>("select name from migrations");
    const found = rows.map((row) => row.name);
    const applied = withBaseline(found);
    refuseNewer(applied, files);
    refuseOlder(applied);
    if (!found.includes(baseline.name) && applied.includes(baseline.name)) {
      await client.query("delete from migrations where name <= $1", [baseline.replaces]);
      await client.query("insert into migrations (name) values ($1)", [baseline.name]);
    }
    const missing = files.filter((name) => !applied.includes(name));
    for (const name of missing) {
      await client.query(patient(await readFile(new URL(name, folder), "utf8")));
      await client.query("insert into migrations (name) values ($1)", [name]);
    }
    if (missing.length > 0) {
      // They use each other, in any order.
      await client.query("set local check_function_bodies = off");
      for (const name of await sqlFilesIn(functionsDir)) {
        await client.query(await readFile(new URL(name, functionsDir), "utf8"));
      }
    }
    return missing;
  });
}

/** The newest migration that this release has, without its ending: `0094-azure-devops`. */
export async function knownSchema(): Promise<string> {
  return schemaOf(await sqlFilesIn(migrationsDir));
}

const schemaOf = (files: readonly string[]) => (files.at(-1) ?? "").replace(/\.sql$/, "");

/** An older release would read and write what it does not understand. */
function refuseNewer(applied: readonly string[], known: readonly string[]): void {
  const newest = applied.toSorted().at(-1) ?? "";
  if (newest <= (known.at(-1) ?? "")) return;
  const message =
    `the database has the schema ${schemaOf([newest])}, which is newer than ${schemaOf(known)} of this release; ` +
    "start the newer release, or restore a backup of this one";
  throw new AppError("unavailable", { publicMessage: "the database is not available", message });
}

/** The migrations of a database or an archive, with the baseline in place of those that it replaces. */
export function withBaseline(applied: readonly string[]): readonly string[] {
  if (!applied.includes(baseline.replaces)) return applied;
  return [baseline.name, ...applied.filter((name) => name > baseline.name)];
}

function refuseOlder(applied: readonly string[]): void {
  if (applied.length === 0 || applied.includes(baseline.name)) return;
  const message =
    `the database has the schema ${schemaOf(applied.toSorted())}, from before 0.1.0; ` +
    `start Emend's commit ${baseline.commitBefore} on it once, then this release`;
  throw new AppError("unavailable", { publicMessage: "the database is not available", message });
}

async function sqlFilesIn(folder: URL): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
}

/** A migration of large tables, or the wait for another node, takes longer than the pool's query timeout. */
function patient(text: string): { text: string; query_timeout: number } {
  return { text, query_timeout: 60 * 60 * 1_000 };
}

const versionMin = 14;

/** Refuses an unsupported server with a message, before it fails later and less clearly. */
export async function assertSupportedPostgres(db: Queryable): Promise<void> {
  const { rows } = await db.query<{ number: number; version: string; encoding: string; standby: boolean }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
            current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby`,
  );
  const problem = rows[0] && findProblem(rows[0]);
  if (!problem) return;
  throw new AppError("unavailable", { publicMessage: "the database is not available", message: problem });
}

export function findProblem(server: {
  number: number;
  version: string;
  encoding: string;
  standby: boolean;
}): string | undefined {
  if (server.number < versionMin * 10_000) {
    return `EMEND_DATABASE_URL names Postgres ${server.version}; Emend needs ${versionMin} or later`;
  }
  if (server.encoding !== "UTF8") {
    return `EMEND_DATABASE_URL names a database in ${server.encoding}; create one with: create database emend template template0 encoding 'UTF8'`;
  }
  if (server.standby) return "EMEND_DATABASE_URL names a read-only standby; name the primary";
  return undefined;
}
