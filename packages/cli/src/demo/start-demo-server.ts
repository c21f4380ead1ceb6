import { mkdir } from "node:fs/promises";
import type { Server } from "@emend/server";
import type { Cli } from "../cli.ts";
import { resolvePath } from "../resolve-path.ts";
import { seconds } from "../terminal/duration.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { demoDir } from "./demo-dir.ts";
import { demoEnvironment } from "./demo-environment.ts";
import { freePort } from "./free-port.ts";

const wishedPort = 4610;

/** The real server on a free port of this machine, with data of its own. */
export async function startDemoServer(
  cli: Cli,
  narrator: Narrator,
  data: string | undefined,
): Promise<{ server: Server; dataDir: string }> {
  const startedAt = performance.now();
  narrator.line();
  narrator.begin("starting Emend: server, Postgres and git, on this machine alone");
  const dataDir = data === undefined ? demoDir(cli.env) : resolvePath(cli, data);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { loadConfig, startServer } = await import("@emend/server");
  const port = await freePort(wishedPort);
  const server = await startServer(
    loadConfig(demoEnvironment(cli.env), { dataDir, port, host: "127.0.0.1", role: "all" }),
  );
  narrator.done("server", `${server.url}, ready after ${seconds(performance.now() - startedAt)}`);
  return { server, dataDir };
}
