import { setTimeout } from "node:timers/promises";
import { cannotStart } from "./cannot-start.ts";
import { ownerUrl } from "./endpoint.ts";
import { ensureHome, type Home } from "./home.ts";
import { type Holder, tryLock } from "./lock.ts";
import { reachPostmaster, readPostmasterFile } from "./postmaster.ts";
import type { EmbeddedOptions } from "./start-embedded-postgres.ts";
import { supervise } from "./supervise.ts";

/** The data folder's Postgres, for one command. */
export interface BorrowedPostgres {
  url: string;
  /** Stops Postgres where this command started it; leaves a serving Emend alone. */
  close(): Promise<void>;
}

const waitMsMax = 60_000;
const lookEveryMs = 50;

/**
 * Uses the Postgres of the Emend that serves from the data folder; where none does, starts it for as long as needed.
 * Another command's Postgres would stop with that command, so it is waited for instead.
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

/** The address of a Postgres that lets Emend in; a server that has just begun to start has none yet. */
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
