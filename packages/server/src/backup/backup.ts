import { mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import pg from "pg";
import { withBaseline } from "../db/migrate.ts";
import type { Client, Pool } from "../db/pool.ts";
import { allowLongPauses, inTransaction } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import { initRepository } from "../forge/local/create-repository.ts";
import { ask, gitOutput, type Repository, type RepositoryDeps, repositoryOf } from "../forge/local/repository.ts";
import {
  type ArchivedRepository,
  type ArchivedTable,
  fileDigest,
  type Manifest,
  manifestFile,
  readManifest,
  sealOf,
  secretMark,
} from "./manifest.ts";
import { listTables, readTable, writeTable } from "./tables.ts";

interface BackupDeps {
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
  await allowLongPauses(client);
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
    const moved: string[] = [];
    let isCommitting = false;
    try {
      await inTransaction(deps.pool, async (client) => {
        await allowLongPauses(client);
        await fillTables(client, manifest, folder, signal);
        for (const [projectId, draft] of drafts) {
          const { gitDir } = repositoryOf(deps.forge, projectId);
          await rename(draft, gitDir);
          moved.push(gitDir);
        }
        isCommitting = true;
      });
    } catch (error) {
      // The answer to a commit can be lost: then the rows are there, and their repositories must be, too.
      if (isCommitting && (await isFilled(deps.pool, manifest))) return manifest;
      for (const gitDir of moved) await rm(gitDir, { recursive: true, force: true });
      throw error;
    }
    return manifest;
  } finally {
    for (const draft of drafts.values()) await rm(draft, { recursive: true, force: true });
  }
}

async function isFilled(pool: Pool, { tables }: Manifest): Promise<boolean> {
  const table = tables.find(({ rows }) => rows > 0);
  if (!table) return false;
  const { rowCount } = await pool.query(`select from ${pg.escapeIdentifier(table.name)} limit 1`);
  return rowCount !== 0;
}

/** Next to the repository's path, which refuses ids with path separators. */
function draftOf(forge: RepositoryDeps, projectId: string): string {
  const { gitDir } = repositoryOf(forge, projectId);
  return join(dirname(gitDir), `.restore-${projectId}`);
}

async function fillTables(client: Client, manifest: Manifest, folder: string, signal: AbortSignal): Promise<void> {
  const seen = await client.query<{ name: string }>("select name from migrations");
  const known = new Set(seen.rows.map(({ name }) => name));
  if (withBaseline(manifest.migrations).some((name) => !known.has(name))) {
    throw new AppError("invalid_request", {
      publicMessage: "the archive was made by a newer Emend, or by one before 0.1.0: use that one",
    });
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

const bundleMsMax = 30 * 60_000;

/** Bundles all refs of a local repository, pull request heads included, into one file. */
async function bundleRepository(
  deps: RepositoryDeps,
  projectId: string,
  options: { path: string; file: string; signal: AbortSignal },
): Promise<ArchivedRepository> {
  const repository = repositoryOf(deps, projectId);
  const { signal } = options;
  const head = await gitOutput(repository, ["symbolic-ref", "HEAD"], signal);
  const objectFormat = (await gitOutput(repository, ["rev-parse", "--show-object-format"], signal)) as
    | "sha1"
    | "sha256";
  const about = { projectId, defaultBranch: head.replace(/^refs\/heads\//, ""), objectFormat };
  const refs = await ask(repository, ["for-each-ref", "--count=1"], signal);
  // git cannot make an empty bundle.
  if (refs.output === "") return { ...about, bundle: null };
  const { git, gitDir } = repository;
  const args = ["bundle", "create", "--quiet", options.path, "--all"];
  await git.must({ gitDir, args, timeMsMax: bundleMsMax, outputBytesMax: 1024 }, signal);
  return { ...about, bundle: { file: options.file, sha256: await fileDigest(options.path) } };
}

const unbundleMsMax = 30 * 60_000;

async function unbundleRepository(
  repository: Repository,
  archived: ArchivedRepository,
  options: { bundlePath: string | null; signal: AbortSignal },
): Promise<void> {
  await initRepository(repository, archived, options.signal);
  if (options.bundlePath === null) return;
  const { git, gitDir } = repository;
  const args = ["fetch", "--quiet", "--no-auto-gc", "--no-write-fetch-head", options.bundlePath, "+refs/*:refs/*"];
  await git.must({ gitDir, args, timeMsMax: unbundleMsMax, outputBytesMax: 1024 }, options.signal);
}
