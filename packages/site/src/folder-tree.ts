import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isAbsent } from "./text/absent.ts";
import type { SiteFile, SiteTree } from "./types.ts";

const skipped = new Set(["node_modules", ".git", ".hg", ".svn"]);

async function walk(root: string, dir: string, into: SiteFile[]): Promise<void> {
  const entries = await readdir(join(root, dir), { withFileTypes: true });
  const folders: string[] = [];
  for (const entry of entries) {
    const path = dir === "" ? entry.name : `${dir}/${entry.name}`;
    // Links are not followed: they may lead out of the folder, or in circles.
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name)) folders.push(path);
    } else if (entry.isFile()) into.push({ path });
  }
  for (const folder of folders) await walk(root, folder, into);
}

/** A folder on disk as a tree. */
export function folderTree(root: string): SiteTree {
  return {
    folder: root,
    async list() {
      const files: SiteFile[] = [];
      await walk(root, "", files);
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
