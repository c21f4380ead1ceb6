import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { type AddressInfo, createServer, Socket } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "@emend/base/logger.ts";
import pg from "pg";
import type { Binaries } from "./binaries.ts";
import type { Home } from "./home.ts";
import { type Endpoint, fitsSocket, readPassword, superuserUrl } from "./init-cluster.ts";
import { cannotStart, chownTo, isAlive, toolEnvironment } from "./run-tool.ts";

/** A running postmaster that accepts connections. */
export interface RunningPostmaster {
  pid: number;
  endpoint: Endpoint;
  sentinel: Sentinel;
}

export interface PostmasterOptions {
  home: Home;
  binaries: Binaries;
  log: Logger;
  signal: AbortSignal;
  /** The previous endpoint. */
  endpoint?: Endpoint | undefined;
  /** How long to wait for a stale lock or a port in use. */
  hinderedMsMax?: number;
}

const pollEveryMs = 100;
const defaultHinderedMsMax = 60_000;

/** Postgres's message if another postmaster, or its children, still run on the cluster. */
const lockWords = /lock file "[^"]*" already exists|pre-existing shared memory block/i;
/** Postgres's message if its port is in use. */
const portWords = /could not create any TCP\/IP sockets/i;

/**
 * Adopts the postmaster that runs on the cluster, or starts one. Only Postgres decides whether a lock file is stale: it
 * is retried until it starts, and we never remove the file.
 */
export async function runPostmaster(options: PostmasterOptions): Promise<RunningPostmaster> {
  const { home, log, signal } = options;
  const deadline = performance.now() + (options.hinderedMsMax ?? defaultHinderedMsMax);
  for (;;) {
    signal.throwIfAborted();
    const found = await readPostmasterFile(home.dir);
    const reached = found ? await reachPostmaster(superuserUrl(found.endpoint)) : undefined;
    if (found && reached?.kind === "connected") {
      log.info({ pid: found.pid }, "adopted the running postgres");
      return { ...found, sentinel: reached.sentinel };
    }
    if (reached?.kind !== "busy") {
      const outcome = await startPostmaster(options);
      if (outcome.kind === "running") return outcome.postmaster;
      if (performance.now() > deadline) throw waitedTooLong(found?.pid, outcome.words);
      log.info({ pid: found?.pid, reason: lastWords(outcome.words) }, "waiting until postgres can start");
    }
    await setTimeout(pollEveryMs, undefined, { signal });
  }
}

type StartOutcome = { kind: "running"; postmaster: RunningPostmaster } | { kind: "hindered"; words: string };

async function startPostmaster(options: PostmasterOptions): Promise<StartOutcome> {
  const spawned = await spawnPostmaster({ ...options, endpoint: options.endpoint });
  const sentinel = await untilReady(spawned, options.signal);
  if (sentinel && spawned.child.pid) {
    options.log.info({ pid: spawned.child.pid }, "started postgres");
    return { kind: "running", postmaster: { pid: spawned.child.pid, endpoint: spawned.endpoint, sentinel } };
  }
  const words = await spawned.exited;
  if (lockWords.test(words) || portWords.test(words)) return { kind: "hindered", words };
  throw cannotStart(lastWords(words) || "it ended without a word", { cause: words });
}

/** A connection once Postgres accepts one, however long recovery takes. Undefined if the process has exited. */
async function untilReady(spawned: SpawnedPostmaster, signal: AbortSignal): Promise<Sentinel | undefined> {
  const gone = new AbortController();
  void spawned.exited.then(() => gone.abort());
  while (!gone.signal.aborted) {
    if (signal.aborted) {
      spawned.child.kill("SIGINT");
      await spawned.exited;
      throw signal.reason;
    }
    // Another program on its port may accept a connection and never answer.
    const reached = await reachPostmaster(superuserUrl(spawned.endpoint), gone.signal);
    if (reached.kind === "connected") return reached.sentinel;
    await Promise.race([setTimeout(20), spawned.exited]);
  }
  return undefined;
}

function waitedTooLong(pid: number | undefined, words: string): Error {
  if (!lockWords.test(words)) return cannotStart(lastWords(words));
  return cannotStart(
    `its files are locked by process ${pid ?? "unknown"}, which does not answer (${lastWords(words)})`,
    {
      advice: "End that process if it is a Postgres on these files, or set EMEND_DATABASE_URL.",
    },
  );
}

function lastWords(words: string): string {
  const lines = words.split("\n").filter((line) => /FATAL|PANIC|error/.test(line));
  return (lines.at(-1) ?? words.trim().split("\n").at(-1) ?? "").replace(/^.*?(FATAL|PANIC):\s*/, "");
}

interface SpawnedPostmaster {
  child: ChildProcess;
  endpoint: Endpoint;
  /** Settles when the process has exited, with its log output. */
  exited: Promise<string>;
}

const logBytesMax = 5 * 1024 * 1024;

const settings = {
  max_connections: "200",
  timezone: "UTC",
  log_timezone: "UTC",
  // Statements contain prompts, and the client gets the errors anyway.
  log_min_messages: "log",
  log_min_error_statement: "panic",
  log_checkpoints: "off",
  // Our queries are short; compiling them costs more than it saves.
  jit: "off",
};

/** Starts a postmaster on the home's cluster. It refuses if another one is running. */
async function spawnPostmaster(options: {
  home: Home;
  binaries: Binaries;
  /** The previous endpoint: reconnecting clients use it. */
  endpoint: Endpoint | undefined;
}): Promise<SpawnedPostmaster> {
  const { home, binaries } = options;
  const endpoint = options.endpoint ?? (await chooseEndpoint(home));
  const logFile = join(home.dir, "log");
  if (existsSync(logFile) && statSync(logFile).size > logBytesMax) renameSync(logFile, `${logFile}.old`);
  const log = openSync(logFile, "a", 0o600);
  await chownTo(home.user, logFile);
  const logStart = statSync(logFile).size;
  const set = Object.entries({ ...settings, ...listenSettings(endpoint) });
  const args = ["-D", join(home.dir, "cluster"), ...set.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const child = spawn(binaries.postgres, args, {
    ...(home.user.isOther ? { uid: home.user.uid, gid: home.user.gid } : {}),
    cwd: "/",
    // A lock file that names our own parent is stale: the process id was reused.
    env: { ...toolEnvironment, PG_GRANDPARENT_PID: String(process.ppid) },
    stdio: ["ignore", log, log],
    // Its own session: Ctrl-C goes to Emend, which stops Postgres last.
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
  await chownTo(home.user, runDir);
  return { kind: "socket", runDir };
}

function listenSettings(endpoint: Endpoint): Record<string, string> {
  if (endpoint.kind === "loopback") {
    return { listen_addresses: "127.0.0.1", port: String(endpoint.port), unix_socket_directories: "" };
  }
  return {
    listen_addresses: "",
    // Quoted, because a comma would separate two folders.
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

const stopMsMax = 20_000;
const lookAtEndEveryMs = 20;

/**
 * A fast shutdown: sessions end, and everything is on disk. If it hangs, an immediate shutdown follows, which costs a
 * recovery later.
 */
export async function stopPostmaster(homeDir: string, pid: number): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (!(await isThere(homeDir, pid))) return;
    signalIfAlive(pid, signal);
    const deadline = performance.now() + stopMsMax;
    while (performance.now() < deadline) {
      if (!(await isThere(homeDir, pid))) return;
      await setTimeout(lookAtEndEveryMs);
    }
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Checked with its lock file: the process id alone may belong to another process or a zombie. */
async function isThere(homeDir: string, pid: number): Promise<boolean> {
  return (await readPostmasterFile(homeDir))?.pid === pid && isAlive(pid);
}

/** An open connection: when it ends, the supervisor knows that something happened. */
interface Sentinel {
  client: pg.Client;
  lost: Promise<void>;
}

type Reached = { kind: "connected"; sentinel: Sentinel } | { kind: "busy" } | { kind: "absent" };

/** Tries one connection. Busy: a postmaster is there, but it is starting, stopping, recovering or full. */
export async function reachPostmaster(url: string, signal?: AbortSignal): Promise<Reached> {
  const socket = new Socket();
  const client = new pg.Client({
    stream: () => socket,
    connectionString: url,
    application_name: "emend supervisor",
    connectionTimeoutMillis: 10_000,
  });
  const lost = new Promise<void>((resolve) => client.on("end", () => resolve()));
  // An "error" event without a listener would end the process.
  client.on("error", () => {});
  const giveUp = () => socket.destroy();
  signal?.addEventListener("abort", giveUp);
  try {
    await client.connect();
    return { kind: "connected", sentinel: { client, lost } };
  } catch (error) {
    const code = (error as { code?: string }).code;
    void client.end();
    return { kind: code === "57P03" || code === "53300" ? "busy" : "absent" };
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}

/** The content of `postmaster.pid`. The process may be dead: the file survives a kill. */
interface Postmaster {
  pid: number;
  endpoint: Endpoint;
}

/** Reads the file that only Postgres writes and removes. */
export async function readPostmasterFile(homeDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(homeDir, "cluster", "postmaster.pid"), "utf8").catch(() => "");
  // Lines: pid, data folder, start time, port, socket folder, address, shared memory, state.
  const [pid, , , port, runDir, address] = text.split("\n");
  if (!pid || !port) return undefined;
  if (runDir) return { pid: Number(pid), endpoint: { kind: "socket", runDir } };
  // Written in two steps: without an address it cannot be reached yet.
  if (!address) return undefined;
  return {
    pid: Number(pid),
    endpoint: { kind: "loopback", port: Number(port), password: await readPassword(homeDir) },
  };
}
