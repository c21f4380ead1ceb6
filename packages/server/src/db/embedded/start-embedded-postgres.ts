import { setTimeout } from "node:timers/promises";
import type { Logger } from "../../lib/logger.ts";
import { cannotStart } from "./cannot-start.ts";
import { ensureHome } from "./home.ts";
import { isAlive } from "./is-alive.ts";
import { type Holder, tryLock } from "./lock.ts";
import { type Supervised, supervise } from "./supervise.ts";

export interface EmbeddedOptions {
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
