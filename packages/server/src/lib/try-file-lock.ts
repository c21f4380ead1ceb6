import { DatabaseSync } from "node:sqlite";

/**
 * Locks a file for this process. Null if another process has it. It uses SQLite's lock: Node has no other, and the
 * kernel releases it when the process ends. So it is never stale, and there is no race. The database stays empty.
 */
export function tryFileLock(file: string): { release(): void } | null {
  let handle: DatabaseSync | undefined;
  try {
    handle = new DatabaseSync(file, { timeout: 0 });
    handle.exec("pragma journal_mode = off; begin exclusive");
  } catch (error) {
    handle?.close();
    if (isBusy(error)) return null;
    throw error;
  }
  const held = handle;
  return {
    release() {
      if (held.isOpen) held.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === 5;
}
