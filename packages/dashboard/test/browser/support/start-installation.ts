import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, type Server, startServer } from "@emend/server";

export interface Installation {
  server: Server;
  stop(): Promise<void>;
}

/** A whole server on the embedded database, in a folder of its own: for what runs outside the suite. */
export async function startInstallation(): Promise<Installation> {
  const dataDir = await mkdtemp(join(tmpdir(), "emend-browser-"));
  const remove = () => rm(dataDir, { recursive: true, force: true });
  const config = loadConfig({ ...process.env, EMEND_LOG_LEVEL: "fatal" }, { port: 0, dataDir });
  const server = await startServer(config).catch(async (error) => {
    await remove();
    throw error;
  });
  return {
    server,
    async stop() {
      await server.stop();
      await remove();
    },
  };
}
