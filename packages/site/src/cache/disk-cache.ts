import { randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Site } from "../site.ts";

export interface DiskCache extends ParseCache {
  /** Writes the new entries. Safe while other processes do the same. */
  flush(): Promise<void>;
}

const bytesMaxDefault = 128 * 1024 * 1024;
// With more small packs than this, they are merged into one.
const packsMax = 16;

interface Pack {
  path: string;
  bytes: number;
  mtimeMs: number;
}

async function listPacks(dir: string): Promise<Pack[]> {
  const names = await readdir(dir).catch(() => []);
  const packs: Pack[] = [];
  for (const name of names) {
    if (!name.endsWith(".pack")) continue;
    const path = join(dir, name);
    // Another process may have removed it.
    const info = await stat(path).catch(() => null);
    if (info !== null) packs.push({ path, bytes: info.size, mtimeMs: info.mtimeMs });
  }
  return packs.sort((a, b) => b.mtimeMs - a.mtimeMs);
}

function sumOf(record: string): string {
  return crc32(record).toString(36);
}

/** Lines of key, checksum and record, separated by tabs. A damaged line is a miss, never an error. */
function* readPack(text: string): Generator<[string, string]> {
  for (const line of text.split("\n")) {
    const tab = line.indexOf("\t");
    const second = line.indexOf("\t", tab + 1);
    if (tab === -1 || second === -1) continue;
    const record = line.slice(second + 1);
    if (line.slice(tab + 1, second) === sumOf(record)) yield [line.slice(0, tab), record];
  }
}

/**
 * A persistent parse cache. Packs are written under a temporary name, renamed, and never changed afterwards. So readers
 * see complete packs only, and writers need no lock. The oldest packs are deleted when the cache exceeds its limit.
 */
export async function openDiskCache(dir: string, options: { bytesMax?: number } = {}): Promise<DiskCache> {
  const bytesMax = options.bytesMax ?? bytesMaxDefault;
  await mkdir(dir, { recursive: true });
  const memory = createParseCache({ bytesMax });
  const packs = await listPacks(dir);
  const isScattered = packs.length > packsMax;
  let added = new Map<string, string>();
  for (const pack of packs.toReversed()) {
    const text = await readFile(pack.path, "utf8").catch(() => "");
    for (const [key, record] of readPack(text)) {
      memory.set(key, record);
      if (isScattered) added.set(key, record);
    }
  }

  async function flush(): Promise<void> {
    if (added.size === 0) return;
    const lines = [...added].map(([key, record]) => `${key}\t${sumOf(record)}\t${record}\n`).join("");
    added = new Map();
    const name = join(dir, randomUUID());
    await writeFile(`${name}.tmp`, lines);
    await rename(`${name}.tmp`, `${name}.pack`);
    if (isScattered) for (const pack of packs) await rm(pack.path, { force: true });
    await prune(`${name}.pack`, Buffer.byteLength(lines));
  }

  async function prune(newest: string, bytes: number): Promise<void> {
    let kept = 0;
    const others = (await listPacks(dir)).filter(({ path }) => path !== newest);
    for (const pack of [{ path: newest, bytes }, ...others]) {
      kept += pack.bytes;
      if (kept > bytesMax && pack.path !== newest) await rm(pack.path, { force: true });
    }
    // Temporary files older than an hour belong to processes that died.
    for (const name of await readdir(dir).catch(() => [])) {
      if (!name.endsWith(".tmp")) continue;
      const info = await stat(join(dir, name)).catch(() => null);
      if (info !== null && Date.now() - info.mtimeMs > 3_600_000) await rm(join(dir, name), { force: true });
    }
  }

  return {
    get: memory.get,
    keys: memory.keys,
    set(key, record) {
      memory.set(key, record);
      added.set(key, record);
    },
    flush,
  };
}

/** Caches page records by content hash and dialect. Pass the same cache to every `openSite`. */
export interface ParseCache {
  get(key: string): string | undefined;
  set(key: string, record: string): void;
  keys(): Iterable<string>;
  /** The last site opened with this cache. Unchanged parts are reused from it. */
  latest?: Site | undefined;
}

// A 10,000-page site's facts take about 30 MB.
const memoryBytesMaxDefault = 64 * 1024 * 1024;

/** An in-memory LRU cache. */
export function createParseCache(options: { bytesMax?: number } = {}): ParseCache {
  const bytesMax = options.bytesMax ?? memoryBytesMaxDefault;
  const entries = new Map<string, string>();
  let bytes = 0;

  function get(key: string): string | undefined {
    const facts = entries.get(key);
    if (facts === undefined) return undefined;
    // A map keeps insertion order: inserting again makes the entry the most recent.
    entries.delete(key);
    entries.set(key, facts);
    return facts;
  }

  function set(key: string, facts: string): void {
    const old = entries.get(key);
    if (old !== undefined) bytes -= old.length;
    entries.delete(key);
    entries.set(key, facts);
    bytes += facts.length;
    for (const [oldest, dropped] of entries) {
      if (bytes <= bytesMax || oldest === key) break;
      entries.delete(oldest);
      bytes -= dropped.length;
    }
  }

  return { get, set, keys: () => entries.keys() };
}
