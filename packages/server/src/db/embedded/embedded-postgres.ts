import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "@emend/base/logger.ts";
import type pg from "pg";
import { type Binaries, ensureBinaries } from "./binaries.ts";
import { ensureHome, type HeldLock, type Holder, type Home, tryLock } from "./home.ts";
import { databaseName, ensureCluster, ownerRole, ownerUrl, readPassword } from "./init-cluster.ts";
import {
  type PostmasterOptions,
  type RunningPostmaster,
  reachPostmaster,
  readPostmasterFile,
  runPostmaster,
  stopPostmaster,
} from "./postmaster.ts";
import { cannotStart, isAlive } from "./run-tool.ts";

interface EmbeddedOptions {
  dataDir: string;
  log: Logger;
  /** Aborts the start. Once started, `stop` ends Postgres. */
  signal?: AbortSignal;
  /** Where root keeps what a system user must be able to reach; `/var/lib/emend` by default. */
  systemDir?: string;
}

/** A command that uses the same data folder ends soon. */
const commandMsMax = 60_000;
const pollEveryMs = 50;

/** Runs Postgres on the data folder while this process serves, unless another process does. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<Supervised> {
  const { log, signal = new AbortController().signal } = options;
  const home = await ensureHome(options);
  const deadline = performance.now() + commandMsMax;
  for (;;) {
    const lock = await tryLock(home, "server");
    if (lock.kind === "held") return supervise({ home, lock, log, signal });
    // A lock without a live holder was just taken or released.
    const isServing = lock.holder?.role === "server" && isAlive(lock.holder.pid);
    if (isServing || performance.now() > deadline) throw isTaken(options.dataDir, lock.holder);
    await setTimeout(pollEveryMs, undefined, { signal });
  }
}

function isTaken(dataDir: string, holder: Holder | undefined): Error {
  return cannotStart(`another Emend (process ${holder?.pid ?? "unknown"}) uses ${dataDir}`, {
    advice: "Stop it, or choose another data folder with --data.",
    isConflict: true,
  });
}

/** The data folder's Postgres, for one command. */
interface BorrowedPostgres {
  url: string;
  /** Stops Postgres if this command started it. */
  close(): Promise<void>;
}

const waitMsMax = 60_000;

/**
 * Uses the Postgres of the Emend that serves from the data folder. If none does, starts it for the duration of the
 * command. Another command's Postgres would stop with that command, so this waits for it instead.
 */
export async function useEmbeddedPostgres(options: EmbeddedOptions): Promise<BorrowedPostgres> {
  const { log, signal = new AbortController().signal } = options;
  const home = await ensureHome(options);
  const deadline = performance.now() + waitMsMax;
  for (;;) {
    const lock = await tryLock(home, "command");
    if (lock.kind === "held") {
      const supervised = await supervise({ home, lock, log, signal });
      return { url: supervised.url, close: supervised.stop };
    }
    const url = lock.holder?.role === "server" ? await findServing(home) : undefined;
    if (url) return { url, close: async () => {} };
    if (performance.now() > deadline) throw noneAnswers(options.dataDir, lock.holder);
    await setTimeout(pollEveryMs, undefined, { signal });
  }
}

/** The URL of a Postgres that accepts connections. A server that is starting has none yet. */
async function findServing(home: Home): Promise<string | undefined> {
  const found = await readPostmasterFile(home.dir);
  if (!found) return undefined;
  const url = ownerUrl(found.endpoint);
  const reached = await reachPostmaster(url);
  if (reached.kind !== "connected") return undefined;
  await reached.sentinel.client.end();
  return url;
}

function noneAnswers(dataDir: string, holder: Holder | undefined): Error {
  return cannotStart(`process ${holder?.pid ?? "unknown"} uses ${dataDir}, and no database answers there`, {
    advice: "Wait until it is done, or stop it.",
  });
}

/** The embedded Postgres of this process. It is restarted if it dies; `url` stays the same. */
export interface Supervised {
  url: string;
  /** Closes every connection, stops Postgres with everything on disk, and releases the data folder. */
  stop(): Promise<void>;
}

const retryAfterMsMin = 100;
const retryAfterMsMax = 5_000;

interface SuperviseOptions {
  home: Home;
  /** Released when Postgres is stopped or does not start. */
  lock: HeldLock;
  log: Logger;
  signal: AbortSignal;
}

/** Keeps a postmaster running on the home's cluster until stopped. */
export async function supervise(options: SuperviseOptions): Promise<Supervised> {
  const { lock } = options;
  try {
    const { url, stop } = await start(options);
    let stopped: Promise<void> | undefined;
    const stopOnce = () => {
      lock.announceStop();
      return stop().finally(lock.release);
    };
    return {
      url,
      stop() {
        stopped ??= stopOnce();
        return stopped;
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function start({ home, log, signal }: SuperviseOptions): Promise<Supervised> {
  const binaries = await ensureBinaries(home);
  await ensureCluster({ binaries, home, signal });
  await assertSameMajor(home.dir, binaries);
  const first = await runPostmaster({ home, binaries, log, signal });
  const stop = watch({ home, binaries, log, endpoint: first.endpoint }, first);
  try {
    await ensureDatabase(first.sentinel.client, await readPassword(home.dir));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: ownerUrl(first.endpoint), stop };
}

/** Restarts Postgres whenever it is lost. Returns how to stop both. */
function watch(options: Omit<PostmasterOptions, "signal">, first: RunningPostmaster): () => Promise<void> {
  const { home, log } = options;
  const stopping = new AbortController();
  let current = first;

  async function follow(): Promise<void> {
    for (;;) {
      await current.sentinel.lost;
      if (stopping.signal.aborted) return;
      log.error({ pid: current.pid }, "lost postgres");
      const next = await runAgain({ ...options, signal: stopping.signal });
      if (!next) return;
      current = next;
      // It may have restarted at the moment of the stop.
      if (stopping.signal.aborted) return next.sentinel.client.end();
    }
  }

  const following = follow();
  return async () => {
    stopping.abort();
    await current.sentinel.client.end();
    await following;
    await stopPostmaster(home.dir, current.pid);
  };
}

/** Retries until it runs: a full disk may get space again. Meanwhile every query fails as "unavailable". */
async function runAgain(options: PostmasterOptions): Promise<RunningPostmaster | undefined> {
  for (let retryAfterMs = retryAfterMsMin; ; retryAfterMs = Math.min(retryAfterMs * 2, retryAfterMsMax)) {
    try {
      return await runPostmaster(options);
    } catch (error) {
      if (options.signal.aborted) return undefined;
      options.log.error({ err: error, retryAfterMs }, "postgres did not come back");
      await setTimeout(retryAfterMs, undefined, { signal: options.signal }).catch(() => {});
    }
  }
}

async function assertSameMajor(homeDir: string, binaries: Binaries): Promise<void> {
  const major = (await readFile(join(homeDir, "cluster", "PG_VERSION"), "utf8")).trim();
  if (major === binaries.major) return;
  throw cannotStart(`its files are of Postgres ${major}, and this Emend brings Postgres ${binaries.major}`, {
    advice: "Run the Emend that made them, or set EMEND_DATABASE_URL.",
  });
}

/** The role that Emend connects with, and the database that it owns. */
async function ensureDatabase(client: pg.Client, password: string): Promise<void> {
  const { rowCount: roles } = await client.query("select from pg_roles where rolname = $1", [ownerRole]);
  if (!roles) {
    await client.query(`create role ${ownerRole} login password ${client.escapeLiteral(password)}`);
  }
  const { rowCount: databases } = await client.query("select from pg_database where datname = $1", [databaseName]);
  if (!databases) await client.query(`create database ${databaseName} owner ${ownerRole}`);
}
