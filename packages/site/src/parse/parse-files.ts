import { hash as digest } from "node:crypto";
import type { SiteFile, SiteTree } from "../types.ts";
import { type Dialect, dialectKey } from "./dialect.ts";
import type { PageFacts } from "./facts.ts";
import { pageBytesMax, scanPage } from "./scan-page.ts";

/** Remembers facts, as JSON, by content hash and dialect. */
export interface ParseCache {
  get(key: string): string | undefined;
  set(key: string, facts: string): void;
}

export interface Parsed {
  facts: PageFacts;
  hash: string;
}

export interface ParseRequest {
  file: SiteFile;
  dialect: Dialect;
}

/** Parses files that were not parsed before. */
export async function parseFiles(
  tree: SiteTree,
  requests: readonly ParseRequest[],
  cache: ParseCache | undefined,
  signal: AbortSignal | undefined,
): Promise<Map<string, Parsed>> {
  const parsed = new Map<string, Parsed>();
  for (const { file, dialect } of requests) {
    signal?.throwIfAborted();
    const key = dialectKey(dialect);
    const stored = file.hash === undefined ? undefined : cache?.get(`${key}:${file.hash}`);
    if (stored !== undefined && file.hash !== undefined) {
      parsed.set(file.path, { facts: JSON.parse(stored) as PageFacts, hash: file.hash });
      continue;
    }
    const bytes = (file.size ?? 0) > pageBytesMax ? new Uint8Array(0) : await tree.read(file.path);
    if (bytes === null) continue;
    const hash = file.hash ?? digest("sha1", bytes, "hex");
    const known = file.hash === undefined ? cache?.get(`${key}:${hash}`) : undefined;
    const facts = known === undefined ? scanPage(bytes, dialect) : (JSON.parse(known) as PageFacts);
    if ((file.size ?? 0) > pageBytesMax) facts.unread = "too large";
    if (known === undefined) cache?.set(`${key}:${hash}`, JSON.stringify(facts));
    parsed.set(file.path, { facts, hash });
  }
  return parsed;
}
