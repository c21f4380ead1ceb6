import { PathMap } from "../path-map.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { SiteFile, SiteTree } from "../types.ts";
import { exportsPart, packageOf } from "./manifests.ts";
import {
  bytesMax,
  examples,
  type FileRecord,
  readSourceFile,
  type SkipReason,
  skipByPath,
  unread,
} from "./read-source-file.ts";
import { readInThreads, type TakeFile } from "./source-threads.ts";
import { createWordReader, hashWord } from "./source-words.ts";
import { createTable, type WordTable } from "./word-table.ts";

/** The names in a source repository at one commit. It is immutable; the next commit's index is derived from it. */
export interface SourceIndex {
  tree: SiteTree;
  /** Path → content hash of every file. */
  files: ReadonlyMap<string, string>;
  skipped: ReadonlyMap<string, SkipReason>;
  /** The number of files read for this index, without those of an earlier index. */
  read: number;
  /** Whether a word (an identifier, `--flag`, `kebab-case` word or route) occurs in the sources. */
  has(word: string): boolean;
  /** The files that contain a word, at most `max`; with `among`, of these only. */
  filesWith(word: string, max?: number, among?: Iterable<string>): string[];
  /** Whether a package with this name is built from these sources. */
  hasPackage(name: string): boolean;
  /** Manifest → the name of its package. */
  manifests: ReadonlyMap<string, string>;
  /** Whether a package exports `name/part`. Null if unknown. */
  exportsPart(name: string): boolean | null;
}

export interface IndexOptions {
  /** An index of another commit of the same sources: only files that differ are read. */
  previous?: SourceIndex;
  /** Paths that are not sources, such as the docs themselves. */
  isOutside?(path: string): boolean;
  signal?: AbortSignal;
}

// The read-ahead: files are read while an earlier one is parsed.
const readsAtOnce = 64;
// From this number on, threads are worth their start.
const threadsMin = 500;
const states = new WeakMap<SourceIndex, State>();

interface State {
  /** Path → hash, or "" if it is unknown. */
  files: PathMap<string>;
  records: PathMap<FileRecord>;
  counts: Counts;
}

/** Indexes the names in every source file of a tree. Without content hashes in the tree, every file is read again. */
export async function indexSource(tree: SiteTree, options: IndexOptions = {}): Promise<SourceIndex> {
  const breathe = createTimeSlice(options.signal);
  const { isOutside = () => false, previous } = options;
  const earlier = previous === undefined ? undefined : states.get(previous);
  const listed: SiteFile[] = [];
  const changed: SiteFile[] = [];
  for (const [number, file] of (await tree.list()).entries()) {
    const turn = number % 256 === 0 ? breathe() : undefined;
    if (turn !== undefined) await turn;
    if (isOutside(file.path)) continue;
    listed.push(file);
    if (file.hash === undefined || previous?.files.get(file.path) !== file.hash) changed.push(file);
  }
  const known = new Map<string, FileRecord>();
  const toRead: SiteFile[] = [];
  for (const [number, file] of changed.entries()) {
    const turn = number % 256 === 0 ? breathe() : undefined;
    if (turn !== undefined) await turn;
    const { path, size = 0 } = file;
    const skip = skipByPath(path) ?? (size > bytesMax ? "too large" : null);
    if (skip === null) toRead.push(file);
    else known.set(path, unread(skip));
  }
  let readCount = 0;
  const missing: SiteFile[] = [];
  const take: TakeFile = (file, record) => {
    if (record === null) {
      missing.push(file);
      return;
    }
    known.set(file.path, record);
    readCount++;
  };
  const { copyOut } = tree;
  const inThreads =
    copyOut !== undefined &&
    toRead.length >= threadsMin &&
    toRead.every(({ hash, size }) => hash && size !== undefined);
  const reading = inThreads
    ? readInThreads(toRead, copyOut, take, options.signal)
    : [await readHere(readAll(tree, toRead), take, breathe)];
  // If no path came or went, the paths are shared. Otherwise the order is that of the list. Meanwhile, threads read.
  const same =
    earlier?.files.size === listed.length
      ? earlier.files.with(changed.map(({ path, hash = "" }) => [path, hash]))
      : null;
  const files = same ?? PathMap.of(listed, ({ hash = "" }) => hash);
  const tables = [...(await reading)];
  if (inThreads && missing.length > 0) tables.push(await readHere(readAll(tree, missing.splice(0)), take, breathe));
  // A file without a hash was deleted on disk, or is a submodule.
  for (const { path, hash } of missing) known.set(path, unread(hash === undefined ? null : "not in the clone"));
  const counts = earlier === undefined ? createCounts(tables) : earlier.counts.derive(tables);
  const records =
    (same && earlier?.records.with(known)) ??
    files.map((path) => known.get(path) ?? earlier?.records.get(path) ?? unread(null));
  for (const path of (same === null ? earlier?.records : known)?.keys() ?? []) {
    const before = known.has(path) || !records.has(path) ? earlier?.records.get(path) : undefined;
    if (before !== undefined) counts.remove(before.words);
  }
  return createIndex(tree, { files, records, counts }, readCount);
}

async function readHere(
  contents: AsyncIterable<readonly [file: SiteFile, content: Uint8Array | null]>,
  take: TakeFile,
  breathe: () => Promise<void> | undefined,
): Promise<WordTable> {
  const read = createWordReader();
  const table = createTable();
  for await (const [file, content] of contents) {
    const found = content && readSourceFile(file.path, content, read);
    const record = found && { ...found, words: found.words.slice() };
    take(file, record);
    if (record !== null) table.add(record.words, 1);
    const turn = breathe();
    if (turn !== undefined) await turn;
  }
  return table;
}

async function* readAll(
  tree: SiteTree,
  files: readonly SiteFile[],
): AsyncIterable<readonly [file: SiteFile, content: Uint8Array | null]> {
  const reading: { file: SiteFile; bytes: Promise<Uint8Array | null> }[] = [];
  for (const file of files) {
    const bytes = tree.read(file.path);
    // The error is thrown where the promise is awaited.
    bytes.catch(() => undefined);
    reading.push({ file, bytes });
    if (reading.length < readsAtOnce) continue;
    for (const one of reading.splice(0, readsAtOnce / 2)) yield [one.file, await one.bytes];
  }
  for (const one of reading) yield [one.file, await one.bytes];
}

/** The files of an earlier state that are gone or differ now. A file without a hash may differ. */
export function changedFiles(before: SourceIndex, after: SourceIndex): string[] {
  const [old, now] = [states.get(before), states.get(after)];
  return old === undefined || now === undefined ? [] : old.files.changedIn(now.files, "");
}

/** Whether a word was in these files of an earlier state, the only ones that changed, and is in no file now. */
export function lostWords(
  before: SourceIndex,
  after: SourceIndex,
  changed: readonly string[],
): (word: string) => boolean {
  const [old, now] = [states.get(before), states.get(after)];
  const lost = new Set<number>();
  for (const path of changed) {
    for (const hash of old?.records.get(path)?.words ?? []) if (now?.counts.words(hash) === 0) lost.add(hash | 0);
  }
  return (word) => lost.has(hashWord(word) | 0);
}

function createIndex(tree: SiteTree, state: State, read: number): SourceIndex {
  const { files, records, counts } = state;
  const skipped = new Map<string, SkipReason>();
  const packages = new Map<string, unknown>();
  const manifests = new Map<string, string>();
  for (const [path, { skip, package: made }] of records) {
    if (skip !== null) skipped.set(path, skip);
    if (made === null || examples.test(path) || /(?:^|\/)(?:tools|scripts)\//.test(path)) continue;
    packages.set(made.name, made.manifest);
    manifests.set(path, made.name);
  }
  const index: SourceIndex = {
    tree,
    files,
    skipped,
    read,
    has: (word) => counts.words(hashWord(word)) > 0,
    filesWith(word, max = 20, among = records.keys()) {
      const hash = hashWord(word);
      const found: string[] = [];
      for (const path of among) {
        if (found.length >= max) break;
        if (records.get(path)?.words.includes(hash)) found.push(path);
      }
      return found;
    },
    hasPackage: (name) => packages.has(name),
    manifests,
    exportsPart(name) {
      const own = packageOf(name);
      return exportsPart(packages.get(own), `.${name.slice(own.length)}`);
    },
  };
  states.set(index, state);
  return index;
}

/** The number of files with each word. Derived counts store only differences, so that both states stay usable. */
interface Counts {
  words(hash: number): number;
  remove(words: Uint32Array): void;
  /** The counts with those of more files. */
  derive(more: readonly WordTable[]): Counts;
}

/** The tables of all threads, and the differences since. */
function createCounts(all: readonly WordTable[], difference = createTable()): Counts {
  return {
    words(hash) {
      let sum = difference.get(hash);
      for (const table of all) sum += table.get(hash);
      return sum;
    },
    remove: (words) => difference.add(words, -1),
    derive(more) {
      const next = difference.copy();
      for (const table of more) next.addAll(table);
      const [first, ...others] = all as readonly [WordTable, ...WordTable[]];
      if (next.size * 4 < first.size) return createCounts(all, next);
      // The difference of many commits: from here on it is cheaper to count anew from a merged table.
      const merged = first.copy();
      for (const table of [...others, next]) merged.addAll(table);
      return createCounts([merged]);
    },
  };
}
