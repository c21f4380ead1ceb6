import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { type Endpoint, fitsSocket, readPassword } from "./endpoint.ts";
import type { Home } from "./home.ts";
import { toolEnvironment } from "./run-tool.ts";
import { giveTo } from "./run-user.ts";

export interface SpawnedPostmaster {
  child: ChildProcess;
  endpoint: Endpoint;
  /** Settles when the process is gone, with what it wrote to its log. */
  exited: Promise<string>;
}

const logBytesMax = 5 * 1024 * 1024;

const settings = {
  max_connections: "200",
  timezone: "UTC",
  log_timezone: "UTC",
  // Statements hold prompts, and refused ones are told to the client anyway.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
  // Our queries are short; compiling them costs more than it gives.
  jit: "off",
};

/** Starts a postmaster on the home's cluster. It refuses by itself where another one lives. */
export async function spawnPostmaster(options: {
  home: Home;
  binaries: Binaries;
  /** Where the last one listened: connections that come back look there. */
  endpoint: Endpoint | undefined;
}): Promise<SpawnedPostmaster> {
  const { home, binaries } = options;
  const endpoint = options.endpoint ?? (await chooseEndpoint(home));
  const logFile = join(home.dir, "log");
  if (existsSync(logFile) && statSync(logFile).size > logBytesMax) renameSync(logFile, `${logFile}.old`);
  const log = openSync(logFile, "a", 0o600);
  await giveTo(home.user, logFile);
  const logStart = statSync(logFile).size;
  const set = Object.entries({ ...settings, ...listenSettings(endpoint) });
  const args = ["-D", join(home.dir, "cluster"), ...set.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const child = spawn(binaries.postgres, args, {
    ...(home.user.isOther ? { uid: home.user.uid, gid: home.user.gid } : {}),
    cwd: "/",
    // A lock file that names our own parent is a dead postmaster's, whose number was given out again.
    env: { ...toolEnvironment, PG_GRANDPARENT_PID: String(process.ppid) },
    stdio: ["ignore", log, log],
    // Its own session: Ctrl-C is for Emend, which stops Postgres last.
    detached: true,
  });
  closeSync(log);
  const exited = once(child, "exit")
    .then(() => readFileSync(logFile).subarray(logStart).toString("utf8"))
    .catch((error: Error) => error.message);
  return { child, endpoint, exited };
}

async function chooseEndpoint(home: Home): Promise<Endpoint> {
  if (!fitsSocket(home.dir)) {
    return { kind: "loopback", port: await findFreePort(), password: await readPassword(home.dir) };
  }
  const runDir = join(home.dir, "run");
  await mkdir(runDir, { recursive: true, mode: 0o700 });
  await giveTo(home.user, runDir);
  return { kind: "socket", runDir };
}

function listenSettings(endpoint: Endpoint): Record<string, string> {
  if (endpoint.kind === "loopback") {
    return { listen_addresses: "127.0.0.1", port: String(endpoint.port), unix_socket_directories: "" };
  }
  return {
    listen_addresses: "",
    // Quoted: a comma would divide it into two folders.
    unix_socket_directories: `"${endpoint.runDir.replaceAll('"', '""')}"`,
    unix_socket_permissions: "0700",
  };
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
