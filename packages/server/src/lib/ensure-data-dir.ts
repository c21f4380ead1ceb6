import { mkdir } from "node:fs/promises";

/**
 * The data folder is its owner's alone. Where root runs Emend, Postgres runs as another user, who must be able to pass
 * through to its cluster, though not to look around; what is secret below it has a mode of its own.
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}
