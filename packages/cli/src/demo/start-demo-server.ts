import { resolve } from "node:path";
import type { Server } from "@emend/server";
import type { Cli } from "../cli.ts";
import { seconds } from "../terminal/duration.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { cacheDir } from "./cache-dir.ts";
import { demoEnvironment } from "./demo-environment.ts";
import { type Place, takePlace } from "./take-place.ts";

interface DemoServer {
  server: Server;
  dataDir: string;
  isDashboardBuilt: boolean;
  stop(): Promise<void>;
}

/** The real server, on this machine alone, with data of its own. */
export async function startDemoServer(cli: Cli, narrator: Narrator, data: string | undefined): Promise<DemoServer> {
  const startedAt = performance.now();
  narrator.line();
  narrator.begin("starting Emend: server, Postgres and git, on this machine alone");
  const { dataDir, port, release } = await placeOf(cli, data);
  try {
    const { isDashboardBuilt, loadConfig, startServer } = await import("@emend/server");
    const config = loadConfig(demoEnvironment(cli.env), { dataDir, port, host: "127.0.0.1", role: "all" });
    const server = await startServer(config);
    narrator.done("server", `${server.url}, ready after ${seconds(performance.now() - startedAt)}`);
    return {
      server,
      dataDir,
      isDashboardBuilt: isDashboardBuilt(),
      stop: () => server.stop().finally(release),
    };
  } catch (error) {
    release();
    throw error;
  }
}

async function placeOf(cli: Cli, data: string | undefined): Promise<Place> {
  if (data === undefined) return takePlace(cacheDir(cli.env));
  return { dataDir: resolve(data), port: 0, release: () => {} };
}
