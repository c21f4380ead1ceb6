import { resolve } from "node:path";
import type { Cli } from "./cli.ts";

export function resolvePath(cli: Cli, path: string): string {
  return resolve(cli.cwd, path);
}
