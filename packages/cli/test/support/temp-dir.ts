import { createHash } from "node:crypto";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function makeTempDir(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-cli-")));
  await chmod(dir, 0o711);
  return dir;
}

/** If root runs the tests, the Postgres user must be able to enter the folder; otherwise its files would be elsewhere. */
export async function makeDataDir(path: string): Promise<string> {
  await mkdir(path, { mode: 0o711 });
  return path;
}

export function removeDir(dir: string): Promise<void> {
  return rm(dir, { recursive: true, force: true });
}

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
