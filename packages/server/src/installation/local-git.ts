import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import type { Network } from "@emend/base/network.ts";
import { createGit, type Git } from "@emend/tree";
import type { Config } from "../config/config.ts";

/** git for every forge. Local repositories are folders, and a forge on this network may have no TLS. */
export function localGit(network: Network = {}): Git {
  return createGit({ allowedProtocols: ["http", "file"], network });
}

/** Git takes one file with all authorities, so the operator's are written together with the system's. */
export async function gitNetwork(config: Config): Promise<Network> {
  const { caFile } = config.network;
  if (caFile === undefined) return config.network;
  const bundle = join(config.dataDir, "authorities.pem");
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  await writeFile(bundle, [...rootCertificates, await readFile(caFile, "utf8")].join("\n"));
  return { ...config.network, caFile: bundle };
}

export function forgeDirOf(config: Config): string {
  return config.forgeDir ?? join(config.dataDir, "forge");
}
