import { setTimeout } from "node:timers/promises";
import type { Logger } from "../../lib/logger.ts";
import type { Binaries } from "./binaries.ts";
import { cannotStart } from "./cannot-start.ts";
import { type Endpoint, superuserUrl } from "./endpoint.ts";
import type { Home } from "./home.ts";
import { readPostmasterFile } from "./postmaster-file.ts";
import { reachPostmaster, type Sentinel } from "./reach-postmaster.ts";
import { type SpawnedPostmaster, spawnPostmaster } from "./spawn-postmaster.ts";

/** A postmaster that answers. */
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
  /** Where the last one listened. */
  endpoint?: Endpoint | undefined;
  /** How long a lock that lingers, or a port that is taken, is put up with. */
  hinderedMsMax?: number;
}

const lookEveryMs = 100;
const defaultHinderedMsMax = 60_000;

/** What Postgres writes when another postmaster lives on the cluster, or its children still do. */
const lockWords = /lock file "[^"]*" already exists|pre-existing shared memory block/i;
/** What it writes when its port was taken: by somebody who was faster, or while it was down. */
const portWords = /could not create any TCP\/IP sockets/i;

/**
 * Adopts the postmaster that lives on the cluster, or starts one. Postgres alone decides whether a lock file is a dead
 * one's: it is asked again until it accepts, and the file is never removed by us.
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
    await setTimeout(lookEveryMs, undefined, { signal });
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

/** A connection once it accepts one, however long recovery takes; nothing once the process is gone. */
async function untilReady(spawned: SpawnedPostmaster, signal: AbortSignal): Promise<Sentinel | undefined> {
  const gone = new AbortController();
  void spawned.exited.then(() => gone.abort());
  while (!gone.signal.aborted) {
    if (signal.aborted) {
      spawned.child.kill("SIGINT");
      await spawned.exited;
      throw signal.reason;
    }
    // Whoever has its port instead may accept a connection and never say a word.
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
