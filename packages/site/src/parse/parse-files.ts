import { hash as digest } from "node:crypto";
import type { ParseCache } from "../cache/parse-cache.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { SiteFile, SiteTree } from "../types.ts";
import { type Dialect, dialectKey } from "./dialect.ts";
import type { PageFacts } from "./facts.ts";
import { openParsePool, type ParsePool } from "./parse-pool.ts";
import { pageBytesMax, scanPage } from "./scan-page.ts";

export interface Parsed {
  facts: PageFacts;
  hash: string;
}

export interface ParseRequest {
  file: SiteFile;
  dialect: Dialect;
}

export interface ParseDeps {
  tree: SiteTree;
  cache: ParseCache | undefined;
  signal: AbortSignal | undefined;
  onProgress: ((done: number, total: number) => void) | undefined;
}

// Fewer files than this are parsed sooner than a thread starts.
const filesInlineMax = 150;
// A file beyond this would hold the event loop: it goes to a thread whatever their number.
const bytesInlineMax = 256 * 1024;
const readsAtOnce = 32;
const batchBytes = 256 * 1024;
const batchFiles = 64;

interface Loaded {
  path: string;
  key: string;
  hash: string;
  bytes: Uint8Array;
  dialect: Dialect;
}

/** git's id for these bytes, so that a folder and a commit agree on what is the same. */
function contentHash(bytes: Uint8Array): string {
  return digest("sha1", Buffer.concat([Buffer.from(`blob ${bytes.byteLength}\0`), bytes]), "hex");
}

/** The facts of files: from the cache where it has them, else parsed, in threads where there are many. */
export async function parseFiles(deps: ParseDeps, requests: readonly ParseRequest[]): Promise<Map<string, Parsed>> {
  const { tree, cache, signal, onProgress } = deps;
  const parsed = new Map<string, Parsed>();
  const breathe = createTimeSlice(signal);
  const keys = new Map<Dialect, string>();
  let pool: ParsePool | null = null;
  let batch: Loaded[] = [];
  let bytesInBatch = 0;
  const pending: Promise<void>[] = [];

  function keep(path: string, hash: string, json: string): void {
    parsed.set(path, { facts: JSON.parse(json) as PageFacts, hash });
  }

  function keyOf(dialect: Dialect): string {
    const key = keys.get(dialect) ?? dialectKey(dialect);
    keys.set(dialect, key);
    return key;
  }

  async function send(files: readonly Loaded[]): Promise<void> {
    pool ??= openParsePool();
    const facts = await pool.parse(files);
    for (const [i, { path, key, hash }] of files.entries()) {
      const turn = breathe();
      if (turn !== undefined) await turn;
      const json = facts[i] as string;
      cache?.set(key, json);
      keep(path, hash, json);
    }
    onProgress?.(parsed.size, requests.length);
  }

  function parse(loaded: Loaded, isMany: boolean): void {
    if (!isMany && loaded.bytes.byteLength <= bytesInlineMax) {
      const facts = scanPage(loaded.bytes, loaded.dialect);
      cache?.set(loaded.key, JSON.stringify(facts));
      parsed.set(loaded.path, { facts, hash: loaded.hash });
      return;
    }
    batch.push(loaded);
    bytesInBatch += loaded.bytes.byteLength;
    if (batch.length < batchFiles && bytesInBatch < batchBytes) return;
    flush();
  }

  function flush(): void {
    if (batch.length === 0) return;
    const sent = send(batch);
    // The fault is raised where all are awaited.
    sent.catch(() => undefined);
    pending.push(sent);
    batch = [];
    bytesInBatch = 0;
  }

  const missing: ParseRequest[] = [];
  for (const request of requests) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const { path, hash } = request.file;
    const stored = hash === undefined ? undefined : cache?.get(`${keyOf(request.dialect)}:${hash}`);
    if (stored === undefined || hash === undefined) missing.push(request);
    else keep(path, hash, stored);
  }
  const isMany = missing.length > filesInlineMax;
  let next = 0;

  async function read(): Promise<void> {
    while (next < missing.length) {
      const { file, dialect } = missing[next++] as ParseRequest;
      const turn = breathe();
      if (turn !== undefined) await turn;
      const isHuge = (file.size ?? 0) > pageBytesMax;
      const bytes = isHuge ? new Uint8Array(0) : await tree.read(file.path);
      if (bytes === null) continue;
      const hash = file.hash ?? contentHash(bytes);
      const key = `${keyOf(dialect)}:${hash}`;
      const stored = file.hash === undefined ? cache?.get(key) : undefined;
      if (stored !== undefined) keep(file.path, hash, stored);
      else if (isHuge) parsed.set(file.path, { facts: { ...scanPage(bytes, dialect), unread: "too large" }, hash });
      else parse({ path: file.path, key, hash, bytes, dialect }, isMany);
    }
  }

  try {
    await Promise.all(Array.from({ length: readsAtOnce }, read));
    flush();
    await Promise.all(pending);
  } finally {
    await (pool as ParsePool | null)?.close();
  }
  return parsed;
}
