import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/**
 * The folder for the demo's database and repositories: the user's cache, so that a second run starts quickly, earlier
 * links stay valid, and no project folder is touched. Without a writable home, a temporary folder.
 */
export function cacheDir(env: NodeJS.ProcessEnv): string {
  const parents = [
    env.XDG_CACHE_HOME,
    cacheOf(env.HOME || homedir()),
    join(env.TMPDIR || tmpdir(), `emend-${userInfo().uid}`),
  ];
  for (const parent of parents) {
    if (parent && isUsable(join(parent, "emend"))) return join(parent, "emend");
  }
  throw new Error("no folder can be written for the demo; name one with --data DIR");
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

const scripts = new Set(["demo", "emend", "start"]);

/** npm runs a workspace's scripts at its root, but `../docs` means the folder where the person typed it. */
export function homeOfPerson(env: NodeJS.ProcessEnv, cwd: string): string {
  const isOurScript = env.npm_package_name === "emend-workspace" && scripts.has(env.npm_lifecycle_event ?? "");
  return (isOurScript && env.INIT_CWD) || cwd;
}
