import type { ParseCache } from "../cache/disk-cache.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { SiteFile, SiteTree } from "../types.ts";
import { type Dialect, dialectKey } from "./dialect.ts";
import { contentHash } from "./file-reader.ts";
import { bytesInlineMax } from "./large-pages.ts";
import { briefOf, type PageBrief } from "./page-brief.ts";
import type { ParsePool } from "./parse-pool.ts";
import type { BatchSource } from "./parse-worker.ts";
import { emptyFacts, pageBytesMax, scanBrief } from "./scan-page.ts";

export interface Parsed {
  brief: PageBrief;
  hash: string;
}

export interface ParseRequest {
  file: SiteFile;
  dialect: Dialect;
}

export interface ParseDeps {
  tree: SiteTree;
  cache: ParseCache | undefined;
  /** Starts the threads, or returns the running pool. */
  openPool(): ParsePool;
  signal: AbortSignal | undefined;
  onProgress: ((done: number, total: number) => void) | undefined;
}

/** Parsing this many files takes less time than starting a thread. */
export const filesInlineMax = 150;
const readsAtOnce = 32;
const batchBytes = 256 * 1024;
const batchFiles = 48;

interface Loaded {
  path: string;
  hash: string;
  bytes: Uint8Array;
}

/** The records of files: cached, or else parsed, in threads if there are many. */
export async function parseFiles(deps: ParseDeps, requests: readonly ParseRequest[]): Promise<Map<string, Parsed>> {
  const { tree, cache, openPool, signal, onProgress } = deps;
  const parsed = new Map<string, Parsed>();
  const breathe = createTimeSlice(signal);
  const keys = new Map<Dialect, string>();
  const pending: Promise<void>[] = [];

  function keyOf(dialect: Dialect): string {
    const key = keys.get(dialect) ?? dialectKey(dialect);
    keys.set(dialect, key);
    return key;
  }

  function keep(path: string, hash: string, record: string): void {
    parsed.set(path, { brief: JSON.parse(record) as PageBrief, hash });
  }

  function take(path: string, dialect: Dialect, hash: string, record: string): void {
    const key = cache === undefined ? "" : `${keyOf(dialect)}:${hash}`;
    if (record !== "") cache?.set(key, record);
    const text = record === "" ? cache?.get(key) : record;
    if (text !== undefined) keep(path, hash, text);
  }

  /** Sends a batch to a thread. An error is thrown where all batches are awaited. */
  function send(paths: readonly string[], dialect: Dialect, source: BatchSource): void {
    const sent = (async () => {
      const { hashes, records } = await openPool().parse({ source, dialect, dialectKey: keyOf(dialect) });
      let start = 0;
      for (const [i, path] of paths.entries()) {
        const turn = breathe();
        if (turn !== undefined) await turn;
        const end = records.indexOf("\n", start);
        const hash = hashes[i] ?? null;
        if (hash !== null) take(path, dialect, hash, records.slice(start, end));
        start = end + 1;
      }
      onProgress?.(parsed.size, requests.length);
    })();
    sent.catch(() => undefined);
    pending.push(sent);
  }

  async function fromCache(): Promise<readonly ParseRequest[]> {
    if (cache === undefined) return requests;
    const missing: ParseRequest[] = [];
    for (const request of requests) {
      const turn = breathe();
      if (turn !== undefined) await turn;
      const { path, hash } = request.file;
      const stored = hash === undefined ? undefined : cache.get(`${keyOf(request.dialect)}:${hash}`);
      if (stored === undefined || hash === undefined) missing.push(request);
      else keep(path, hash, stored);
    }
    return missing;
  }

  /** Threads read folders themselves, so that file contents need not pass through this thread. */
  async function parseOnDisk(folder: string, missing: readonly ParseRequest[]): Promise<void> {
    for (const [dialect, group] of Map.groupBy(missing, (request) => request.dialect)) {
      for (let from = 0; from < group.length; from += batchFiles) {
        await openPool().room();
        const paths = group.slice(from, from + batchFiles).map(({ file }) => file.path);
        send(paths, dialect, { kind: "disk", folder, paths });
      }
    }
  }

  async function parseRead(missing: readonly ParseRequest[]): Promise<void> {
    const isMany = missing.length > filesInlineMax;
    const batches = new Map<Dialect, Loaded[]>();
    let next = 0;

    function flush(dialect: Dialect): void {
      const batch = batches.get(dialect) ?? [];
      batches.delete(dialect);
      if (batch.length > 0)
        send(
          batch.map(({ path }) => path),
          dialect,
          joinFiles(batch),
        );
    }

    async function parse(loaded: Loaded, dialect: Dialect): Promise<void> {
      if (!isMany && loaded.bytes.byteLength <= bytesInlineMax) {
        const brief = scanBrief(loaded.bytes, dialect);
        cache?.set(`${keyOf(dialect)}:${loaded.hash}`, JSON.stringify(brief));
        parsed.set(loaded.path, { brief, hash: loaded.hash });
        return;
      }
      const batch = batches.get(dialect) ?? [];
      batches.set(dialect, batch);
      batch.push(loaded);
      const bytes = batch.reduce((sum, one) => sum + one.bytes.byteLength, 0);
      if (batch.length < batchFiles && bytes < batchBytes) return;
      flush(dialect);
      await openPool().room();
    }

    async function read(): Promise<void> {
      while (next < missing.length) {
        const { file, dialect } = missing[next++] as ParseRequest;
        const turn = breathe();
        if (turn !== undefined) await turn;
        const isHuge = (file.size ?? 0) > pageBytesMax;
        const bytes = isHuge ? new Uint8Array(0) : await tree.read(file.path);
        if (bytes === null) continue;
        const hash = file.hash ?? contentHash(bytes);
        const stored = file.hash === undefined ? cache?.get(`${keyOf(dialect)}:${hash}`) : undefined;
        if (stored !== undefined) keep(file.path, hash, stored);
        else if (isHuge) {
          const brief = briefOf({ ...emptyFacts(), unread: "too large" });
          parsed.set(file.path, { brief, hash });
        } else await parse({ path: file.path, hash, bytes }, dialect);
      }
    }

    await Promise.all(Array.from({ length: readsAtOnce }, read));
    for (const dialect of [...batches.keys()]) flush(dialect);
  }

  const missing = await fromCache();
  if (tree.folder !== undefined && missing.length > filesInlineMax) await parseOnDisk(tree.folder, missing);
  else await parseRead(missing);
  await Promise.all(pending);
  return parsed;
}

/** Joins all files into one buffer, which is transferred to a thread without a copy. */
function joinFiles(files: readonly Loaded[]): BatchSource {
  const joined = new Uint8Array(files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0));
  const ends: number[] = [];
  let at = 0;
  for (const { bytes } of files) {
    joined.set(bytes, at);
    at += bytes.byteLength;
    ends.push(at);
  }
  return { kind: "buffer", buffer: joined.buffer, ends, hashes: files.map(({ hash }) => hash) };
}
