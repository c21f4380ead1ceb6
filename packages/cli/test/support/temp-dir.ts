import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
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
