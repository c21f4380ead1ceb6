import { join } from "node:path";
import type { Config } from "./config.ts";
import { createGit, type Git } from "./tree/git.ts";

/** git for the local forge: its repositories are folders, so the file protocol is admitted. */
export function localGit(): Git {
  return createGit({ allowedProtocols: ["http", "file"] });
}

export function forgeDirOf(config: Config): string {
  return config.forgeDir ?? join(config.dataDir, "forge");
}
