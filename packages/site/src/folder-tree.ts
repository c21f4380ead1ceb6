import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent } from "./text/absent.ts";
import type { SiteFile, SiteTree } from "./types.ts";

const skipped = new Set(["node_modules", ".git", ".hg", ".svn"]);

/** Whether a path lies where no documentation does. */
export function isSkipped(path: string): boolean {
  return path.split("/").some((name) => skipped.has(name));
}

/** Hands over every file below a folder, and every folder before what is in it. */
export async function walkFolder(
  root: string,
  dir: string,
  onFile: (path: string) => void,
  onFolder?: (path: string) => void,
): Promise<void> {
  onFolder?.(dir);
  const entries = await readdir(join(root, dir), { withFileTypes: true });
  const folders: string[] = [];
  for (const entry of entries) {
    const path = dir === "" ? entry.name : `${dir}/${entry.name}`;
    // Links are not followed: they may lead out of the folder, or in circles.
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name)) folders.push(path);
    } else if (entry.isFile()) onFile(path);
  }
  for (const folder of folders) await walkFolder(root, folder, onFile, onFolder);
}

/** A folder on disk as a tree. */
export function folderTree(root: string): SiteTree {
  return {
    folder: root,
    async list() {
      const files: SiteFile[] = [];
      await walkFolder(root, "", (path) => files.push({ path }));
      return files.sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    async read(path) {
      try {
        return await readFile(join(root, path));
      } catch (error) {
        if (isAbsent(error)) return null;
        throw error;
      }
    },
  };
}
