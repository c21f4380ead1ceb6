import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "../../lib/logger.ts";
import { type Binaries, ensureBinaries } from "./binaries.ts";
import type { Home } from "./home.ts";
import { databaseName, ensureCluster, ownerRole, ownerUrl, readPassword } from "./init-cluster.ts";
import type { HeldLock } from "./lock.ts";
import { type PostmasterOptions, type RunningPostmaster, runPostmaster, stopPostmaster } from "./postmaster.ts";
import { cannotStart } from "./run-tool.ts";

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
