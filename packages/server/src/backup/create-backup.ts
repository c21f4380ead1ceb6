import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Client, Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import type { RepositoryDeps } from "../forge/local/repository.ts";
import type { ArchivedRepository, ArchivedTable, Manifest } from "./archive.ts";
import { manifestFile } from "./archive.ts";
import { fileDigest, sealOf, secretMark } from "./manifest.ts";
import { bundleRepository } from "./repositories.ts";
import { listTables, writeTable } from "./tables.ts";

export interface BackupDeps {
  pool: Pool;
  secret: string;
  forge: RepositoryDeps;
}

/**
 * Writes an archive of the running installation: all tables in one snapshot, then the repositories, which can only be
 * newer. The folder gets its name when it is complete.
 */
export async function createBackup(deps: BackupDeps, folder: string, signal: AbortSignal): Promise<Manifest> {
  const final = resolve(folder);
  if (await stat(final).catch(() => null)) {
    throw new AppError("invalid_request", { publicMessage: `${folder} exists already; name a new folder` });
  }
  const draft = join(dirname(final), `.${basename(final)}.${process.pid}`);
  // Not `recursive`: where nothing can be created, such as in /proc, Node would try forever.
  await mkdir(draft, { mode: 0o700 }).catch((cause) => {
    const publicMessage = `no folder can be made in ${dirname(final)} (${cause.code}); name one where this user may write`;
    throw new AppError("invalid_request", { publicMessage, cause });
  });
  try {
    await mkdir(join(draft, "tables"), { mode: 0o700 });
    await mkdir(join(draft, "repositories"), { mode: 0o700 });
    const manifest = await inTransaction(deps.pool, (client) => archive(deps, client, draft, signal));
    await writeFile(join(draft, manifestFile), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    await rename(draft, final);
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}

/** For the Status page. It is not a person's action, so it is not in the audit log. */
export async function rememberBackup(pool: Pool, at: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await client.query("select set_config('emend.audit', 'off', true)");
    await client.query(
      `insert into settings (name, value) values ('lastBackup', $1)
       on conflict (name) do update set value = excluded.value, updated_at = clock_timestamp()`,
      [JSON.stringify({ at })],
    );
  });
}

async function archive(deps: BackupDeps, client: Client, dir: string, signal: AbortSignal): Promise<Manifest> {
  await client.query("set transaction isolation level repeatable read, read only");
  await client.query("set local bytea_output = 'hex'");
  const migrations = await client.query<{ name: string }>("select name from migrations order by name");
  const tables: ArchivedTable[] = [];
  for (const table of await listTables(client)) {
    const file = `tables/${table.name}.jsonl.gz`;
    const path = join(dir, file);
    const rows = await writeTable(client, table, { path, signal });
    tables.push({ ...table, rows, file, sha256: await fileDigest(path) });
  }
  const local = await client.query<{ id: string }>("select id from projects where forge = 'local' order by id");
  const repositories: ArchivedRepository[] = [];
  for (const { id } of local.rows) {
    const file = `repositories/${id}.bundle`;
    repositories.push(await bundleRepository(deps.forge, id, { path: join(dir, file), file, signal }));
  }
  const manifest = {
    format: 1 as const,
    createdAt: new Date().toISOString(),
    migrations: migrations.rows.map(({ name }) => name),
    secretMark: secretMark(deps.secret),
    tables,
    repositories,
  };
  return { ...manifest, seal: sealOf(deps.secret, manifest) };
}
