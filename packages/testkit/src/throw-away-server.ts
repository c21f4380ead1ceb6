import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { type Binaries, ensureBinaries } from "../../server/src/db/embedded/binaries.ts";
import { ensureCluster, superuser } from "../../server/src/db/embedded/init-cluster.ts";
import { chownTo, findRunUser, type RunUser } from "../../server/src/db/embedded/run-tool.ts";
import { makeReachableDir } from "./reachable-dir.ts";

export interface ThrowAwayServer {
  url: string;
  stop(): Promise<void>;
}

const settings = {
  // Nothing here must survive a crash, so fsync is off.
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "300",
  listen_addresses: "",
  log_min_messages: "log",
  log_checkpoints: "off",
};

/** Older ones do not know it. */
const settingsOf18 = { io_method: "sync" };

interface ThrowAwayOptions {
  /** Follows nobody until it is promoted. */
  isStandby?: boolean;
  /** A file beside the node_modules that have its binaries. Absent: those of Emend. */
  binariesFrom?: string | undefined;
}

/** A temporary Postgres for one test run. */
export async function startThrowAwayServer(options: ThrowAwayOptions = {}): Promise<ThrowAwayServer> {
  const user = findRunUser();
  const rootDir = await makeReachableDir(user);
  const homeDir = join(rootDir, "home");
  try {
    await mkdir(homeDir, { mode: 0o700 });
    await chownTo(user, homeDir);
    const binaries = await ensureBinaries({ user, copiesDir: rootDir, from: options.binariesFrom });
    await ensureCluster({
      binaries,
      home: { dir: homeDir, user },
      signal: AbortSignal.timeout(120_000),
      isThrowAway: true,
    });
    if (options.isStandby) {
      const signal = join(homeDir, "cluster/standby.signal");
      await writeFile(signal, "");
      await chownTo(user, signal);
    }
    const logFile = join(rootDir, "log");
    const guard = spawnGuard({ user, binaries, homeDir, rootDir, logFile });
    const url = `postgresql://${superuser}@${encodeURIComponent(homeDir)}:5432/postgres`;
    await waitUntilReady(url, guard, logFile);
    return { url, stop: () => stopGuard(guard) };
  } catch (error) {
    await rm(rootDir, { recursive: true, force: true });
    throw error;
  }
}

function spawnGuard(options: {
  user: RunUser;
  binaries: Binaries;
  homeDir: string;
  rootDir: string;
  logFile: string;
}): ChildProcess {
  const { user, homeDir, binaries } = options;
  const own = Number(binaries.major) < 18 ? {} : settingsOf18;
  const set = Object.entries({ ...settings, ...own, unix_socket_directories: `"${homeDir}"` });
  const args = ["-D", join(homeDir, "cluster"), ...set.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const ids = user.isOther ? [String(user.uid), String(user.gid)] : ["", ""];
  const guardFile = fileURLToPath(new URL("./guard-postgres.ts", import.meta.url));
  return spawn(process.execPath, [guardFile, options.rootDir, options.logFile, ...ids, binaries.postgres, ...args], {
    // Its own session: Ctrl-C must reach the tests first.
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
}

async function waitUntilReady(url: string, guard: ChildProcess, logFile: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      return;
    } catch (cause) {
      if (guard.exitCode !== null || performance.now() > deadline) {
        guard.stdin?.end();
        throw new Error(`Postgres for tests did not start: ${await readFile(logFile, "utf8")}`, { cause });
      }
      await setTimeout(50);
    } finally {
      await client.end();
    }
  }
}

async function stopGuard(guard: ChildProcess): Promise<void> {
  if (guard.exitCode !== null) return;
  guard.stdin?.end();
  await once(guard, "exit");
}
