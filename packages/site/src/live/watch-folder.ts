import { type FSWatcher, watch } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isSkipped } from "../folder-tree.ts";
import { isBelow, underDir } from "../links/target.ts";
import type { LiveFolder } from "./live-folder.ts";

export interface FolderWatch {
  close(): void;
}

export interface WatchHandlers {
  /** The folder was updated. `paths`: the number of changed paths. */
  onChange(paths: number): void;
  /** Watching has stopped. */
  onFault(error: Error): void;
}

// A save causes several events, a checkout thousands. Debounce: update `quietMs` after the last event, and at most
// `patienceMs` after the first.
const quietMs = 40;
const patienceMs = 1000;

/**
 * Keeps a folder in sync with the disk. It uses one watcher per folder, and none below `node_modules` or `.git`: Node's
 * recursive mode uses one per file, and systems allow few.
 */
export async function watchFolder(folder: LiveFolder, { onChange, onFault }: WatchHandlers): Promise<FolderWatch> {
  const watchers = new Map<string, FSWatcher>();
  let touched = new Set<string>();
  let firstAt = 0;
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> | null = null;
  let isClosed = false;

  function note(path: string): void {
    if (isClosed || isSkipped(path)) return;
    if (touched.size === 0) firstAt = performance.now();
    touched.add(path);
    clearTimeout(timer);
    timer = setTimeout(settle, Math.max(0, Math.min(quietMs, firstAt + patienceMs - performance.now())));
  }

  function settle(): void {
    // Changes that arrive meanwhile are processed afterwards.
    if (working !== null || touched.size === 0) return;
    const paths = touched;
    touched = new Set();
    working = bringUpToDate(paths)
      .then(() => onChange(paths.size))
      .catch(fail)
      .finally(() => {
        working = null;
        if (touched.size > 0 && !isClosed) timer = setTimeout(settle, quietMs);
      });
  }

  async function bringUpToDate(paths: ReadonlySet<string>): Promise<void> {
    await requireRoot(folder.root);
    await folder.refresh(paths);
    // The path may now be a new folder of the same name, which the old watcher does not see.
    for (const path of paths) if (folder.folders.has(path)) unwatchBelow(path);
    await watchNewFolders();
  }

  /** Files added to a new folder before it was watched are found by reading the folder again. */
  async function watchNewFolders(): Promise<void> {
    for (const dir of watchers.keys()) if (!folder.folders.has(dir)) unwatchBelow(dir);
    let fresh: string[];
    do {
      fresh = [...folder.folders].filter((dir) => !watchers.has(dir) && watchOne(dir));
      if (fresh.length > 0) await folder.refresh(fresh.includes("") ? [""] : fresh);
    } while (fresh.length > 0);
  }

  function watchOne(dir: string): boolean {
    if (isClosed) return false;
    try {
      const watcher = watch(join(folder.root, dir), (_, name) => note(name === null ? dir : underDir(dir, name)));
      watcher.on("error", () => note(dir));
      watchers.set(dir, watcher);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return false;
      throw code === "ENOSPC" || code === "EMFILE" ? tooMany(folder.folders.size, error) : error;
    }
  }

  function unwatchBelow(path: string): void {
    for (const [dir, watcher] of watchers) {
      if (dir !== path && !isBelow(dir, path)) continue;
      watcher.close();
      watchers.delete(dir);
    }
  }

  function close(): void {
    isClosed = true;
    clearTimeout(timer);
    unwatchBelow("");
  }

  function fail(error: Error): void {
    if (isClosed) return;
    close();
    onFault(error);
  }

  try {
    await requireRoot(folder.root);
    await folder.refresh([""]);
    await watchNewFolders();
  } catch (error) {
    close();
    throw error;
  }
  return { close };
}

async function requireRoot(root: string): Promise<void> {
  const info = await lstat(root).catch(() => null);
  if (info === null) throw new Error(`${root} is gone; start again once it is back`);
}

function tooMany(folders: number, cause: unknown): Error {
  const limit = process.platform === "linux" ? "fs.inotify.max_user_watches" : "the limit of open files (`ulimit -n`)";
  return new Error(`the system does not allow watching ${folders} folders; raise ${limit} or name a smaller folder`, {
    cause,
  });
}
