import type { Config } from "../config/config.ts";

/** How a person on this machine types the commands of this installation, so that pages show lines which run. */
export function typedCommand(config: Pick<Config, "databaseUrl" | "dataDir" | "isDefaultDataDir">) {
  // The published package is compiled, and puts `emend` on the path; a checkout runs its source and does not.
  const command = import.meta.url.endsWith(".ts") ? "npx emend" : "emend";
  // With a database of its own the settings say where the installation is, whatever the data folder.
  const isFound = config.databaseUrl !== null || config.isDefaultDataDir;
  return { command, dataDir: isFound ? null : config.dataDir };
}
