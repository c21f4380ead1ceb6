import type { Config } from "../config/config.ts";
import { startEmbeddedPostgres, useEmbeddedPostgres } from "../db/embedded/embedded-postgres.ts";
import { hasHome, outsideHome } from "../db/embedded/home.ts";
import { assertSupportedPostgres, migrate } from "../db/migrate.ts";
import { createPool, type Pool } from "../db/pool.ts";
import type { Logger } from "../lib/logger.ts";

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
  return config.databaseUrl !== null || hasHome(config.dataDir);
}

/** Opens the configured or the embedded database, migrated and ready. */
export async function openDatabase(options: OpenOptions): Promise<Database> {
  const source = await openSource(options);
  const pool = createPool({ url: source.url, connectionsMax: options.connectionsMax, log: options.log });
  try {
    await assertSupportedPostgres(pool);
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

async function openSource(options: OpenOptions): Promise<{ url: string; stop(): Promise<void> }> {
  const { config, log, signal } = options;
  if (config.databaseUrl !== null) return { url: config.databaseUrl, stop: async () => {} };
  const { dataDir } = config;
  if (options.holder === "server") return startEmbeddedPostgres({ dataDir, log, signal });
  const { url, close } = await useEmbeddedPostgres({ dataDir, log, signal });
  return { url, stop: close };
}
