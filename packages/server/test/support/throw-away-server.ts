import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { ensureBinaries } from "../../src/db/embedded/binaries.ts";
import { ensureCluster, giveTo, superuser } from "../../src/db/embedded/init-cluster.ts";
import { canEnter, findRunUser, type RunUser } from "../../src/db/embedded/run-user.ts";

export interface ThrowAwayServer {
  url: string;
  /** Where the private copy of the binaries is, for tests of the supervisor to share. */
  copiesDir: string;
  stop(): Promise<void>;
}

const settings = {
  // Nothing here need survive a crash, so nothing waits for the disk.
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "300",
  listen_addresses: "",
  io_method: "sync",
  log_min_messages: "log",
  log_checkpoints: "off",
};

/** A Postgres for the length of one test run. */
export async function startThrowAwayServer(): Promise<ThrowAwayServer> {
  const user = findRunUser();
  const rootDir = await makeReachableDir(user);
  const homeDir = join(rootDir, "home");
  const copiesDir = join(rootDir, "copies");
  try {
    await mkdir(homeDir, { mode: 0o700 });
    await giveTo(user, homeDir);
    const binaries = await ensureBinaries({ user, copiesDir });
    await ensureCluster({ binaries, user, homeDir, signal: AbortSignal.timeout(120_000), isThrowAway: true });
    const logFile = join(rootDir, "log");
    const guard = spawnGuard({ user, postgres: binaries.postgres, homeDir, rootDir, logFile });
    const url = `postgresql://${superuser}@${encodeURIComponent(homeDir)}:5432/postgres`;
    await waitUntilReady(url, guard, logFile);
    return { url, copiesDir, stop: () => stopGuard(guard) };
  } catch (error) {
    await rm(rootDir, { recursive: true, force: true });
    throw error;
  }
}

async function makeReachableDir(user: RunUser): Promise<string> {
  for (const parent of new Set([tmpdir(), "/tmp", "/var/tmp"])) {
    const dir = await mkdtemp(join(parent, "emend-test-"));
    await chmod(dir, 0o755);
    if (canEnter(user, dir)) return dir;
    await rm(dir, { recursive: true });
  }
  throw new Error(`there is no temporary folder that ${user.name} can enter`);
}

function spawnGuard(options: {
  user: RunUser;
  postgres: string;
  homeDir: string;
  rootDir: string;
  logFile: string;
}): ChildProcess {
  const { user, homeDir } = options;
  const set = Object.entries({ ...settings, unix_socket_directories: homeDir });
  const args = ["-D", join(homeDir, "cluster"), ...set.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
  const ids = user.isOther ? [String(user.uid), String(user.gid)] : ["", ""];
  const guardFile = fileURLToPath(new URL("guard-postgres.ts", import.meta.url));
  return spawn(process.execPath, [guardFile, options.rootDir, options.logFile, ...ids, options.postgres, ...args], {
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
