import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { SiteFile, SiteTree, SurroundingRepository } from "./types.ts";

const skipped = new Set(["node_modules", ".git", ".hg", ".svn"]);

/** Whether a path is in a folder that never contains documentation. */
export function isSkipped(path: string): boolean {
  return path.split("/").some((name) => skipped.has(name));
}

/** A file's name as git stores it: on a Mac composed (NFC), also where the disk keeps it decomposed. */
export function nameAsGit(name: string, platform: NodeJS.Platform = process.platform): string {
  return platform === "darwin" ? name.normalize("NFC") : name;
}

/** Reports every file below a folder, and each folder before its content. */
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
    const name = nameAsGit(entry.name);
    const path = dir === "" ? name : `${dir}/${name}`;
    // Symbolic links are not followed: they may point outside the folder, or form a cycle.
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name)) folders.push(path);
    } else if (entry.isFile()) onFile(path);
  }
  for (const folder of folders) await walkFolder(root, folder, onFile, onFolder);
}

/** The git repository that a folder is in. Outside of one, the folder counts as the whole repository. */
export function repositoryAround(folder: string): SurroundingRepository {
  const root = resolve(folder);
  let top = root;
  while (!existsSync(join(top, ".git")) && dirname(top) !== top) top = dirname(top);
  if (!existsSync(join(top, ".git"))) top = root;
  return { dir: relative(top, root).split(sep).join("/"), has: (path) => existsSync(join(top, path)) };
}

/** A folder on disk as a tree. */
export function folderTree(root: string): SiteTree {
  return {
    folder: root,
    repository: () => repositoryAround(root),
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

const codes = new Set(["ENOENT", "EISDIR", "ENOTDIR", "EACCES"]);

/** Whether a read failed because the file does not exist, and not because of another error. */
export function isAbsent(error: unknown): boolean {
  return codes.has((error as NodeJS.ErrnoException).code ?? "");
}
