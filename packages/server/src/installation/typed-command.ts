import type { Config } from "../config/config.ts";

/** How a person on this machine types this installation's commands, so that pages show commands that run. */
export function typedCommand(config: Pick<Config, "databaseUrl" | "dataDir" | "isDefaultDataDir">) {
  // The published package is compiled and installs `emend`; a checkout runs its source.
  const command = import.meta.url.endsWith(".ts") ? "npx emend" : "emend";
  // With an external database, the settings identify the installation, whatever the data folder.
  const isFound = config.databaseUrl !== null || config.isDefaultDataDir;
  return { command, dataDir: isFound ? null : config.dataDir };
}
