import { createHash } from "node:crypto";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A hash of everything visible about a folder: names, kinds, modes, modification times and contents. */
export async function hashFolder(folder: string): Promise<string> {
  const hash = createHash("sha256");
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name);
    const { mode, mtimeMs, size } = await lstat(path);
    hash.update(`${name}\0${mode}\0${mtimeMs}\0${size}\0`);
    if ((await lstat(path)).isFile()) hash.update(await readFile(path));
  }
  return hash.digest("hex");
}
