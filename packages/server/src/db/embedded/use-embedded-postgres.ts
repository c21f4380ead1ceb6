import { setTimeout } from "node:timers/promises";
import { cannotStart } from "./cannot-start.ts";
import { ownerUrl } from "./endpoint.ts";
import { ensureHome, type Home } from "./home.ts";
import { takeLock } from "./lock.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { reachPostmaster } from "./reach-postmaster.ts";
import type { EmbeddedOptions } from "./start-embedded-postgres.ts";
import { supervise } from "./supervise.ts";

/** The data folder's Postgres, for one command. */
export interface BorrowedPostgres {
  url: string;
  /** Stops Postgres where this command started it; leaves a serving Emend alone. */
  close(): Promise<void>;
}

const commandMsMax = 60_000;
const serverStartMsMax = 60_000;
const lookEveryMs = 100;

/** Uses the Postgres of the Emend that serves from the data folder; where none does, starts it for as long as needed. */
export async function useEmbeddedPostgres(options: EmbeddedOptions): Promise<BorrowedPostgres> {
  const { log, signal = new AbortController().signal } = options;
  const home = await ensureHome(options);
  const lock = await takeLock(home, { role: "command", waitMs: commandMsMax, signal });
  if (lock.kind === "taken") {
    const url = await findServing(home, signal);
    if (url) return { url, close: async () => {} };
    throw cannotStart(
      `process ${lock.holder?.pid ?? "unknown"} uses ${options.dataDir}, and no database answers there`,
      {
        advice: "Wait until it is done, or stop it.",
      },
    );
  }
  const supervised = await supervise({ home, lock, log, signal });
  return { url: supervised.url, close: supervised.stop };
}

/** A server that has just begun to start needs a moment. */
async function findServing(home: Home, signal: AbortSignal): Promise<string | undefined> {
  const deadline = performance.now() + serverStartMsMax;
  while (performance.now() < deadline) {
    const found = await readPostmasterFile(home.dir);
    const url = found && ownerUrl(found.endpoint);
    const reached = url && (await reachPostmaster(url));
    if (reached && reached.kind === "connected") {
      await reached.sentinel.client.end();
      return url;
    }
    await setTimeout(lookEveryMs, undefined, { signal });
  }
  return undefined;
}
