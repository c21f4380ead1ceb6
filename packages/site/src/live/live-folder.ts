import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isSkipped, walkFolder } from "../folder-tree.ts";
import { isBelow } from "../links/route.ts";
import type { SiteFile, SiteTree } from "../types.ts";

/**
 * A folder on disk as a tree that is told what changed, so that listing it costs nothing; with the texts that an editor holds
 * in place of what is on disk. A file's hash says how often it changed, for this process alone.
 */
export interface LiveFolder {
  root: string;
  tree: SiteTree;
  /** Every folder that it knows, by path; "" is the root. */
  folders: ReadonlySet<string>;
  /** Looks at paths to which something happened: files, whole folders, or what is gone. */
  refresh(paths: Iterable<string>): Promise<void>;
  /** What an editor shows of a file, saved or not; null: what is on disk counts again. */
  setText(path: string, text: string | null): void;
}

const looksAtOnce = 32;

export function openLiveFolder(root: string): LiveFolder {
  const onDisk = new Map<string, SiteFile>();
  const folders = new Set<string>();
  const held = new Map<string, { bytes: Uint8Array; file: SiteFile }>();
  let listed: readonly SiteFile[] | null = null;
  let changes = 0;

  function fileOf(path: string): SiteFile {
    listed = null;
    return { path, hash: `${path}@${changes++}` };
  }

  function forget(path: string): void {
    listed = null;
    onDisk.delete(path);
    if (!folders.has(path)) return;
    for (const folder of folders) if (folder === path || isBelow(folder, path)) folders.delete(folder);
    for (const file of onDisk.keys()) if (isBelow(file, path)) onDisk.delete(file);
  }

  async function look(path: string): Promise<void> {
    const info = await lstat(join(root, path)).catch(ignoreAbsent);
    if (info?.isFile() === true) {
      onDisk.set(path, fileOf(path));
      return;
    }
    forget(path);
    if (info?.isDirectory() !== true) return;
    await walkFolder(
      root,
      path,
      (file) => onDisk.set(file, fileOf(file)),
      (folder) => folders.add(folder),
      // It may be gone again before it was read: then there is another change to look at.
    ).catch(ignoreAbsent);
  }

  return {
    root,
    folders,
    tree: {
      async list() {
        const files = new Map(onDisk);
        for (const [path, { file }] of held) files.set(path, file);
        listed ??= [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
        return listed;
      },
      async read(path) {
        return held.get(path)?.bytes ?? (await readFile(join(root, path)).catch(ignoreAbsent)) ?? null;
      },
    },
    async refresh(paths) {
      const named = new Set(paths);
      const wanted = named.has("") ? [""] : [...named].filter((path) => !isSkipped(path));
      for (let from = 0; from < wanted.length; from += looksAtOnce) {
        await Promise.all(wanted.slice(from, from + looksAtOnce).map(look));
      }
    },
    setText(path, text) {
      if (isSkipped(path)) return;
      const file = fileOf(path);
      if (text !== null) held.set(path, { bytes: Buffer.from(text), file });
      else if (held.delete(path) && onDisk.has(path)) onDisk.set(path, file);
    },
  };
}

const gone = new Set(["ENOENT", "ENOTDIR"]);

/** What may not be read is no file that is gone: whoever asked hears of it. */
function ignoreAbsent(error: unknown): undefined {
  if (!gone.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
}
