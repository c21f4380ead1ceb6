import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/**
 * Where the demo keeps its database and repositories: the person's cache folder, so that a second run starts at once,
 * links of the first stay good, and no project folder is touched. Where there is no writable home, a temporary one.
 */
export function demoDir(env: NodeJS.ProcessEnv): string {
  const caches = [env.XDG_CACHE_HOME, cacheOf(home(env)), join(tmpdir(), `emend-${userInfo().uid}`)];
  for (const cache of caches) {
    if (!cache) continue;
    const folder = join(cache, "emend", "demo");
    if (isUsable(folder)) return folder;
  }
  throw new Error("no folder can be written for the demo; name one with --data DIR");
}

function home(env: NodeJS.ProcessEnv): string {
  return env.HOME || homedir();
}

function cacheOf(homeDir: string): string {
  return process.platform === "darwin" ? join(homeDir, "Library", "Caches") : join(homeDir, ".cache");
}

function isUsable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
