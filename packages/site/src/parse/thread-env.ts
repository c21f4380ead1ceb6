import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/** A thread's environment. With this process's compile cache, threads start five times faster. */
export function threadEnv(): NodeJS.ProcessEnv {
  const dir = getCompileCacheDir();
  // Node adds a subfolder for its version to the configured folder.
  return dir === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(dir) };
}
