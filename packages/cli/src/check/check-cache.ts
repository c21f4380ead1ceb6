import { createHash } from "node:crypto";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { type DiskCache, openDiskCache } from "@emend/site";
import { cacheDir } from "../demo/cache-dir.ts";

// A site of ten thousand pages takes 25 MB.
const bytesMax = 64 * 1024 * 1024;
const foldersMax = 16;

/**
 * What earlier checks of this folder read, kept in the person's cache: each folder by itself, since a cache is read whole,
 * and only those used last. It only saves time, so every fault of it means doing without.
 */
export async function openCheckCache(env: NodeJS.ProcessEnv, folder: string): Promise<DiskCache | undefined> {
  try {
    const parent = join(cacheDir(env), "check");
    const dir = join(parent, createHash("sha256").update(folder).digest("hex").slice(0, 16));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const now = new Date();
    await utimes(dir, now, now);
    await forgetOldest(parent);
    const cache = await openDiskCache(dir, { bytesMax });
    return { ...cache, flush: () => cache.flush().catch(() => undefined) };
  } catch {
    return undefined;
  }
}

async function forgetOldest(parent: string): Promise<void> {
  const used: { dir: string; mtimeMs: number }[] = [];
  for (const name of await readdir(parent)) {
    const dir = join(parent, name);
    const info = await stat(dir).catch(() => null);
    if (info !== null) used.push({ dir, mtimeMs: info.mtimeMs });
  }
  used.sort((a, b) => b.mtimeMs - a.mtimeMs);
  // Another process may be writing into one: its next check starts anew, no more.
  for (const { dir } of used.slice(foldersMax)) await rm(dir, { recursive: true, force: true });
}
