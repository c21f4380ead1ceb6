import { randomBytes } from "node:crypto";
import { link, readFile, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@emend/base/logger.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/setting-reader.ts";
import { startEmbeddedPostgres, useEmbeddedPostgres } from "../db/embedded/embedded-postgres.ts";
import { ensureDataDir, hasDatabaseFolder, outsideHome } from "../db/embedded/home.ts";
import { assertSupportedPostgres, migrate } from "../db/migrate.ts";
import { createPool, type Pool } from "../db/pool.ts";
import { assertPreparedStatements } from "../db/prepared-statements.ts";
import { isDatabaseUnavailable } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";

export interface Database {
  url: string;
  /** Where the embedded database is, if not in the data folder: a copy of that folder would miss it. */
  outsideDir: string | null;
  pool: Pool;
  close(): Promise<void>;
}

interface OpenOptions {
  config: Config;
  log: Logger;
  connectionsMax: number;
  /** server: runs the embedded Postgres. command: uses the running one, or starts it for a while. */
  holder: "server" | "command";
  signal: AbortSignal;
  /** False: no migrations. Tables may be missing or older than this release. */
  migrates?: boolean;
}

/** False if opening would create the embedded database. */
export function isMade(config: Pick<Config, "databaseUrl" | "dataDir">): boolean {
  return config.databaseUrl !== null || hasDatabaseFolder(config.dataDir);
}

/** Opens the configured or the embedded database, migrated and ready. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const source = await openSource(options);
  const pool = createPool({ url: source.url, connectionsMax: options.connectionsMax, log: options.log });
  try {
    if (options.config.databaseUrl === null) await assertSupportedPostgres(pool);
    else
      await assertSupportedPostgres(pool)
        .then(() => assertPreparedStatements(source.url, options.log))
        .catch(rethrowNaming("EMEND_DATABASE_URL"));
    if (options.migrates !== false) await migrate(pool);
  } catch (error) {
    await pool.end();
    await source.stop();
    throw error;
  }
  const outsideDir = options.config.databaseUrl === null ? outsideHome(options.config.dataDir) : null;
  return {
    url: source.url,
    outsideDir,
    pool,
    async close() {
      await pool.end();
      await source.stop();
    },
  };
}

/** Names the setting. Unreachable servers may come back; a refused login or a missing database does not. */
export function rethrowNaming(variable: `EMEND_DATABASE_${string}`): (error: unknown) => never {
  return (error) => {
    throw isAppError(error) ? error : describeConnectError(error, variable);
  };
}

function describeConnectError(error: unknown, variable: string): unknown {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  const said = first instanceof Error ? first.message : String(first);
  // The client's words for a missing password name the protocol.
  const words = said.startsWith("SASL:") && said.includes("password") ? "the server asks for a password" : said;
  if (!isDatabaseUnavailable(error)) return new ConfigError([`${variable} does not work: ${words}`]);
  return new AppError("unavailable", {
    publicMessage: "the database is not available",
    message: `${variable} names a database that is not available: ${words}`,
    retryable: true,
    cause: error,
  });
}

async function openSource(options: OpenOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const { config, log, signal } = options;
  if (config.databaseUrl !== null) return { url: config.databaseUrl, stop: async () => {} };
  const { dataDir } = config;
  if (options.holder === "server") return startEmbeddedPostgres({ dataDir, log, signal });
  const { url, close } = await useEmbeddedPostgres({ dataDir, log, signal });
  return { url, stop: close };
}

/**
 * The installation's secret: the configured one, or one generated here and stored next to the embedded database with
 * mode 0600. Processes that start together agree on the first, because a hard link is atomic.
 */
export async function ensureSecret(options: { secret: string | null; dataDir: string }): Promise<string> {
  if (options.secret !== null) return options.secret;
  await ensureDataDir(options.dataDir);
  const file = join(options.dataDir, "secret");
  return (await readSecret(file)) ?? makeSecret(file);
}

/** Null if it does not exist yet. */
export async function knownSecret(options: { secret: string | null; dataDir: string }): Promise<string | null> {
  return options.secret ?? readSecret(join(options.dataDir, "secret"));
}

async function makeSecret(file: string): Promise<string> {
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(draft, randomBytes(32).toString("hex"), { mode: 0o600, flag: "wx" });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  return (await readFile(file, "utf8")).trim();
}

async function readSecret(file: string): Promise<string | null> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
