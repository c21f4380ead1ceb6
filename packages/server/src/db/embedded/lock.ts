import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { cannotStart } from "./cannot-start.ts";
import type { Home } from "./home.ts";
import { giveTo } from "./run-user.ts";

/** Why a process holds a home: for as long as it serves, for one command, or until it has stopped. */
export type HolderRole = "server" | "command" | "stopping";

export interface Holder {
  pid: number;
  role: HolderRole;
}

export interface HeldLock {
  kind: "held";
  /** Tells others to wait for the lock rather than to use what is about to stop. */
  announceStop(): void;
  release(): void;
}

export type LockResult = HeldLock | { kind: "taken"; holder: Holder | undefined };

/**
 * Takes the home for this process, or says who has it. It is SQLite's own file lock: Node has no other, and the kernel
 * drops it with the process, however that ends. So it is never stale, and taking it is no race. The database stays empty.
 */
export async function tryLock(home: Home, role: HolderRole): Promise<LockResult> {
  const file = join(home.dir, "lock");
  const holderFile = join(home.dir, "holder.json");
  const handle = openHandle(file);
  if (!handle) return { kind: "taken", holder: readHolder(holderFile) };
  writeHolder(holderFile, { pid: process.pid, role });
  await giveTo(home.user, file);
  return {
    kind: "held",
    announceStop: () => writeHolder(holderFile, { pid: process.pid, role: "stopping" }),
    release() {
      if (!handle.isOpen) return;
      rmSync(holderFile, { force: true });
      handle.close();
    },
  };
}

function openHandle(file: string): DatabaseSync | undefined {
  let handle: DatabaseSync | undefined;
  try {
    handle = new DatabaseSync(file, { timeout: 0 });
    handle.exec("pragma journal_mode = off; begin exclusive");
    return handle;
  } catch (cause) {
    handle?.close();
    if (isBusy(cause)) return undefined;
    throw cannotStart(`${file} cannot be locked`, { cause });
  }
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
    // Taken, or given up, this very moment.
    return undefined;
  }
}
