import { chmod, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export async function makeTempDir(): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-cli-")));
  await chmod(dir, 0o711);
  return dir;
}

/** Where root runs the tests, the user that runs Postgres must pass through; else its files would lie elsewhere. */
export async function makeDataDir(path: string): Promise<string> {
  await mkdir(path, { mode: 0o711 });
  return path;
}

export function removeDir(dir: string): Promise<void> {
  return rm(dir, { recursive: true, force: true });
}
