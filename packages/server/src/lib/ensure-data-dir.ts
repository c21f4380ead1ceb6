import { mkdir } from "node:fs/promises";

/**
 * Only the owner can access the data folder. If root runs Emend, Postgres runs as another user, who must be able to
 * traverse the folder but not list it. Secret files in it have their own modes.
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}
