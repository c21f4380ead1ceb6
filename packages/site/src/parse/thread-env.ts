import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/** A thread's environment: where this process keeps compiled modules, its threads find them, and start in a fifth of the time. */
export function threadEnv(): NodeJS.ProcessEnv {
  const dir = getCompileCacheDir();
  // Below the folder that is named, Node has one for each of its versions.
  return dir === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(dir) };
}
