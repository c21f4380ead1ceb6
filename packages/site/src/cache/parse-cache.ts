import type { Site } from "../site.ts";

/** Caches page records by content hash and dialect. Pass the same cache to every `openSite`. */
export interface ParseCache {
  get(key: string): string | undefined;
  set(key: string, record: string): void;
  keys(): Iterable<string>;
  /** The last site opened with this cache. Unchanged parts are reused from it. */
  latest?: Site | undefined;
}

// A 10,000-page site's facts take about 30 MB.
const bytesMaxDefault = 64 * 1024 * 1024;

/** An in-memory LRU cache. */
export function createParseCache(options: { bytesMax?: number } = {}): ParseCache {
  const bytesMax = options.bytesMax ?? bytesMaxDefault;
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
