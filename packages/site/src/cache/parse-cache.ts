import type { Site } from "../site.ts";

/** Remembers the records of pages by content hash and dialect. Hand the same one to every `openSite`. */
export interface ParseCache {
  get(key: string): string | undefined;
  set(key: string, record: string): void;
  keys(): Iterable<string>;
  /** The site that was opened last with this cache: what did not change since is taken from it as it is. */
  latest?: Site | undefined;
}

// A 10,000-page site's facts take about 30 MB.
const bytesMaxDefault = 64 * 1024 * 1024;

/** A cache in memory that drops what was not used for longest once it is full. */
export function createParseCache(options: { bytesMax?: number } = {}): ParseCache {
  const bytesMax = options.bytesMax ?? bytesMaxDefault;
  const entries = new Map<string, string>();
  let bytes = 0;

  function get(key: string): string | undefined {
    const facts = entries.get(key);
    if (facts === undefined) return undefined;
    // The map keeps the order of insertion: inserting anew makes it the youngest.
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
