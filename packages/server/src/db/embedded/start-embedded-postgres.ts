import type { Logger } from "../../lib/logger.ts";
import { cannotStart } from "./cannot-start.ts";
import { ensureHome } from "./home.ts";
import { takeLock } from "./lock.ts";
import { type Supervised, supervise } from "./supervise.ts";

export interface EmbeddedOptions {
  dataDir: string;
  log: Logger;
  /** Ends the start; once started, `stop` ends Postgres. */
  signal?: AbortSignal;
  /** Where root keeps what must be reachable for a system user; `/var/lib/emend` by default. */
  systemDir?: string;
}

/** A command that uses the same data folder is over soon. */
const commandMsMax = 60_000;

/** Runs Postgres on the data folder for as long as this process serves, and refuses one that another process serves from. */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<Supervised> {
  const { log, signal = new AbortController().signal } = options;
  const home = await ensureHome(options);
  const lock = await takeLock(home, { role: "server", waitMs: commandMsMax, signal });
  if (lock.kind === "taken") {
    throw cannotStart(`another Emend (process ${lock.holder?.pid ?? "unknown"}) uses ${options.dataDir}`, {
      advice: "Stop it, or choose another data folder with --data.",
    });
  }
  return supervise({ home, lock, log, signal });
}
