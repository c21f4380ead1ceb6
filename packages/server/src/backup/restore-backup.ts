import { mkdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import pg from "pg";
import type { Client } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import { type RepositoryDeps, repositoryOf } from "../forge/local/repository.ts";
import type { Manifest } from "./archive.ts";
import type { BackupDeps } from "./create-backup.ts";
import { readManifest } from "./manifest.ts";
import { unbundleRepository } from "./repositories.ts";
import { listTables, readTable } from "./tables.ts";

/** Restores an archive into an empty installation: everything or nothing. */
export async function restoreBackup(deps: BackupDeps, folder: string, signal: AbortSignal): Promise<Manifest> {
  const manifest = await readManifest(folder, deps.secret);
  const drafts = new Map(manifest.repositories.map(({ projectId }) => [projectId, draftOf(deps.forge, projectId)]));
  try {
    await mkdir(deps.forge.forgeDir, { recursive: true, mode: 0o700 });
    for (const repository of manifest.repositories) {
      const { gitDir } = repositoryOf(deps.forge, repository.projectId);
      if (await stat(gitDir).catch(() => null)) throw notEmpty(`repository ${repository.projectId}`);
      const bundlePath = repository.bundle && join(folder, repository.bundle.file);
      const draft = { git: deps.forge.git, gitDir: drafts.get(repository.projectId) as string };
      await unbundleRepository(draft, repository, { bundlePath, signal });
    }
    await inTransaction(deps.pool, async (client) => {
      await fillTables(client, manifest, folder, signal);
      for (const [projectId, draft] of drafts) await rename(draft, repositoryOf(deps.forge, projectId).gitDir);
    });
    return manifest;
  } finally {
    for (const draft of drafts.values()) await rm(draft, { recursive: true, force: true });
  }
}

/** Next to the repository's path, which refuses ids with path separators. */
function draftOf(forge: RepositoryDeps, projectId: string): string {
  const { gitDir } = repositoryOf(forge, projectId);
  return join(dirname(gitDir), `.restore-${projectId}`);
}

async function fillTables(client: Client, manifest: Manifest, folder: string, signal: AbortSignal): Promise<void> {
  const seen = await client.query<{ name: string }>("select name from migrations");
  const known = new Set(seen.rows.map(({ name }) => name));
  if (manifest.migrations.some((name) => !known.has(name))) {
    throw new AppError("invalid_request", { publicMessage: "the archive was made by a newer Emend: use that one" });
  }
  // The archive has its own audit log. A server that was started before may have created an owner link and its canary.
  await client.query("select set_config('emend.audit', 'off', true)");
  await client.query("delete from login_links where purpose = 'owner'");
  await client.query("delete from settings where name = 'secretCanary'");
  const archived = new Map(manifest.tables.map((table) => [table.name, table]));
  for (const { name } of await listTables(client)) {
    const { rowCount } = await client.query(`select from ${pg.escapeIdentifier(name)} limit 1`);
    if (rowCount !== 0) throw notEmpty(`table ${name}`);
  }
  for (const { name } of await listTables(client)) {
    const table = archived.get(name);
    if (!table) continue;
    const rows = await readTable(client, table, { path: join(folder, table.file), signal });
    if (rows !== table.rows) throw new Error(`table ${name} has ${rows} rows instead of ${table.rows}`);
  }
}

function notEmpty(what: string): AppError {
  return new AppError("conflict", {
    publicMessage: `${what} is not empty: an archive is restored into a new installation`,
  });
}
