import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig, type Server, startServer } from "@emend/server";

const built = fileURLToPath(new URL("../../dist/index.html", import.meta.url));
export const sampleDocs = fileURLToPath(new URL("../../../cli/sample/", import.meta.url));

export interface Installation {
  server: Server;
  stop(): Promise<void>;
}

/** A whole server on the embedded database, in a folder of its own. */
export async function startInstallation(): Promise<Installation> {
  if (!existsSync(built)) throw new Error("build the dashboard first: npm run build:dashboard");
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
