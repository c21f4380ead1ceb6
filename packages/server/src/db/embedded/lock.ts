import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { cannotStart } from "./cannot-start.ts";
import type { Home } from "./home.ts";
import { isAlive } from "./is-alive.ts";
import { giveTo } from "./run-user.ts";

/** Why a process holds a home: for as long as it serves, or for one command. */
export type HolderRole = "server" | "command";

export interface Holder {
  pid: number;
  role: HolderRole;
}

export interface HeldLock {
  kind: "held";
  release(): void;
}

export type LockResult = HeldLock | { kind: "taken"; holder: Holder | undefined };

const retryEveryMs = 50;

/**
 * Takes the home for this process. A holder that serves is named at once; one command, or a holder that has just gone,
 * is waited for.
 */
export async function takeLock(
  home: Home,
  options: { role: HolderRole; waitMs: number; signal: AbortSignal },
): Promise<LockResult> {
  const deadline = performance.now() + options.waitMs;
  for (;;) {
    const result = tryLock(home.dir, options.role);
    if (result.kind === "held") {
      await giveTo(home.user, join(home.dir, "lock"));
      return result;
    }
    const isServing = result.holder?.role === "server" && isAlive(result.holder.pid);
    if (isServing || performance.now() > deadline) return result;
    await setTimeout(retryEveryMs, undefined, { signal: options.signal });
  }
}

/**
 * SQLite's own file lock: Node has no other, and the kernel drops it with the process, however that ends. So it is never
 * stale, and taking it is no race. The database stays empty.
 */
function tryLock(homeDir: string, role: HolderRole): LockResult {
  const holderFile = join(homeDir, "holder.json");
  const handle = new DatabaseSync(join(homeDir, "lock"), { timeout: 0 });
  try {
    handle.exec("pragma journal_mode = off; begin exclusive");
  } catch (error) {
    handle.close();
    if (isBusy(error)) return { kind: "taken", holder: readHolder(holderFile) };
    throw cannotStart(`${join(homeDir, "lock")} cannot be locked`, { cause: error });
  }
  writeHolder(holderFile, { pid: process.pid, role });
  return {
    kind: "held",
    release() {
      if (!handle.isOpen) return;
      rmSync(holderFile, { force: true });
      handle.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5;
}

function writeHolder(file: string, holder: Holder): void {
  writeFileSync(`${file}.new`, JSON.stringify(holder), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Taken or given up this very moment.
    return undefined;
  }
}
