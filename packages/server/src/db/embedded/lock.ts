import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "../../lib/locks.ts";
import type { Home } from "./home.ts";
import { cannotStart, giveTo } from "./run-tool.ts";

/** Why a process holds a home: while it serves, for one command, or until it has stopped. */
export type HolderRole = "server" | "command" | "stopping";

export interface Holder {
  pid: number;
  role: HolderRole;
}

export interface HeldLock {
  kind: "held";
  /** Tells others to wait for the lock instead of using a database that is about to stop. */
  announceStop(): void;
  release(): void;
}

export type LockResult = HeldLock | { kind: "taken"; holder: Holder | undefined };

/** Locks the home for this process, or returns the holder. */
export async function tryLock(home: Home, role: HolderRole): Promise<LockResult> {
  const file = join(home.dir, "lock");
  const holderFile = join(home.dir, "holder.json");
  const held = lockFile(file);
  if (!held) return { kind: "taken", holder: readHolder(holderFile) };
  writeHolder(holderFile, { pid: process.pid, role });
  await giveTo(home.user, file);
  let isHeld = true;
  return {
    kind: "held",
    announceStop: () => writeHolder(holderFile, { pid: process.pid, role: "stopping" }),
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(holderFile, { force: true });
      held.release();
    },
  };
}

function lockFile(file: string): ReturnType<typeof tryFileLock> {
  try {
    return tryFileLock(file);
  } catch (cause) {
    throw cannotStart(`${file} cannot be locked`, { cause });
  }
}

function writeHolder(file: string, holder: Holder): void {
  writeFileSync(`${file}.new`, JSON.stringify(holder), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // It was taken or released this very moment.
    return undefined;
  }
}
