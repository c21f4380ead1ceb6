import { setTimeout } from "node:timers/promises";
import type { Logger } from "../../lib/logger.ts";
import { ensureHome, type Home } from "./home.ts";
import { ownerUrl } from "./init-cluster.ts";
import { type Holder, tryLock } from "./lock.ts";
import { reachPostmaster, readPostmasterFile } from "./postmaster.ts";
import { cannotStart, isAlive } from "./run-tool.ts";
import { type Supervised, supervise } from "./supervise.ts";

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
const lookEveryMs = 50;

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
    await setTimeout(lookEveryMs, undefined, { signal });
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
    await setTimeout(lookEveryMs, undefined, { signal });
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
