import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { loadConfig, type Server, startServer } from "@emend/server";
import { startThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import { createPool, type Pool } from "../../../../server/src/db/pool.ts";

export interface Installation {
  server: Server;
  pool: Pool;
  stop(): Promise<void>;
}

/** A whole server with its own database and folders, for scripts outside the suite. */
export async function startInstallation(): Promise<Installation> {
  const postgres = await startThrowAwayServer();
  const dir = await mkdtemp(join(tmpdir(), "emend-browser-"));
  const pool = createPool({ url: postgres.url, connectionsMax: 2, log: createLogger({ level: "silent" }) });
  const remove = async () => {
    await pool.end();
    await postgres.stop();
    await rm(dir, { recursive: true, force: true });
  };
  const env = {
    EMEND_DATABASE_URL: postgres.url,
    EMEND_SECRET: "the secret of screenshots, and of nothing else",
    EMEND_FORGE_DIR: join(dir, "forge"),
    EMEND_LOG_LEVEL: "fatal",
  };
  const server = await startServer(loadConfig(env, { port: 0, dataDir: join(dir, "data") })).catch(async (error) => {
    await remove();
    throw error;
  });
  return {
    server,
    pool,
    async stop() {
      await server.stop();
      await remove();
    },
  };
}
