import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { ensureDataDir } from "../db/embedded/home.ts";

/** The local URL of a server without EMEND_PUBLIC_URL. */
export function urlOf(host: string, port: number): string {
  const isWildcard = host === "0.0.0.0" || host === "::";
  if (isWildcard) return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** So that commands next to the server, or after it, make the same links. */
export async function rememberUrl(dataDir: string, url: string): Promise<void> {
  await ensureDataDir(dataDir);
  await writeFile(join(dataDir, "url"), `${url}\n`);
}

export async function recallUrl(config: Config): Promise<string> {
  if (config.publicUrl !== null) return config.publicUrl;
  const remembered = await readFile(join(config.dataDir, "url"), "utf8").catch(() => "");
  return remembered.trim() || urlOf(config.host, config.port);
}

/** How a person on this machine types this installation's commands, so that pages show commands that run. */
export function typedCommand(config: Pick<Config, "databaseUrl" | "dataDir" | "isDefaultDataDir">) {
  // The published package is compiled and installs `emend`; a checkout runs its source.
  const command = import.meta.url.endsWith(".ts") ? "npx emend" : "emend";
  // With an external database, the settings identify the installation, whatever the data folder.
  const isFound = config.databaseUrl !== null || config.isDefaultDataDir;
  return { command, dataDir: isFound ? null : config.dataDir };
}
