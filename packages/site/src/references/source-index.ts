import { isUtf8 } from "node:buffer";
import { toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { SiteTree } from "../types.ts";
import type { CodeReference } from "./find-references.ts";
import { exportsPart, type Package, packageAt, packageOf } from "./manifests.ts";
import { probesOf } from "./probes.ts";
import { createTokenReader, hashWord, type Tokens } from "./source-tokens.ts";

export type SkipReason =
  | "too large"
  | "binary"
  | "not UTF-8"
  | "minified"
  | "generated"
  | "lock file"
  | "vendored"
  | "prose"
  | "CI";

/** The names in a source repository at one commit. It is immutable; the next commit's index is derived from it. */
export interface SourceIndex {
  tree: SiteTree;
  /** Path → content hash of every file. */
  files: ReadonlyMap<string, string>;
  skipped: ReadonlyMap<string, SkipReason>;
  /** The number of files read for this index, without those of an earlier index. */
  read: number;
  /** Whether the sources define what the reference names. */
  knows(reference: Pick<CodeReference, "kind" | "text" | "from">): boolean;
  /** Whether a word (an identifier, `--flag`, `kebab-case` word or route) occurs in the sources. */
  has(word: string): boolean;
  /** Whether it occurs as a definition. */
  declares(word: string): boolean;
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

interface FileRecord {
  skip: SkipReason | null;
  tokens: Tokens;
  package: Package | null;
}

const bytesMax = 1024 * 1024;
// The read-ahead: files are read while an earlier one is parsed.
const readsAtOnce = 64;
// From this number on, one stream of all files is faster than a request for each.
const streamMin = 500;
const none: Tokens = { words: new Uint32Array(0), declared: 0 };
const states = new WeakMap<SourceIndex, { records: ReadonlyMap<string, FileRecord>; counts: Counts }>();

/** Indexes the names in every source file of a tree. Without content hashes in the tree, every file is read again. */
export async function indexSource(tree: SiteTree, options: IndexOptions = {}): Promise<SourceIndex> {
  const breathe = createTimeSlice(options.signal);
  const { isOutside = () => false } = options;
  const earlier = options.previous === undefined ? undefined : states.get(options.previous);
  const read = createTokenReader();
  const files = new Map<string, string>();
  const known = new Map<string, FileRecord>();
  const changed: { path: string; before: FileRecord | undefined; after: FileRecord }[] = [];
  const toRead: string[] = [];
  for (const { path, hash, size } of await tree.list()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    if (isOutside(path)) continue;
    files.set(path, hash ?? "");
    const before = earlier?.records.get(path);
    if (before !== undefined && hash !== undefined && options.previous?.files.get(path) === hash) {
      known.set(path, before);
      continue;
    }
    const skip = skipByPath(path) ?? (size !== undefined && size > bytesMax ? "too large" : null);
    // The place in the order; what is read replaces it.
    const after = unread(skip);
    known.set(path, after);
    if (skip === null) toRead.push(path);
    else changed.push({ path, before, after });
  }
  let readCount = 0;
  for await (const batch of readAll(tree, toRead, options.signal)) {
    for (const [path, content] of batch) {
      if (content !== null) readCount++;
      const after = content === null ? unread(null) : readFile(path, content, read);
      known.set(path, after);
      changed.push({ path, before: earlier?.records.get(path), after });
    }
    const turn = breathe();
    if (turn !== undefined) await turn;
  }
  const counts = earlier === undefined ? createCounts() : earlier.counts.derive();
  for (const { path, before, after } of changed) {
    if (before !== undefined) counts.add(before.tokens, isExample(path), -1);
    counts.add(after.tokens, isExample(path), 1);
  }
  for (const [path, before] of earlier?.records ?? []) {
    if (!known.has(path)) counts.add(before.tokens, isExample(path), -1);
  }
  return createIndex(tree, files, known, counts, readCount);
}

/** The files in batches, as one stream if the tree has one. Each batch is valid until the next. */
async function* readAll(
  tree: SiteTree,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): AsyncIterable<Iterable<readonly [path: string, content: Uint8Array | null]>> {
  if (tree.readMany !== undefined && paths.length >= streamMin) {
    yield* tree.readMany(paths, signal);
    return;
  }
  const reading: { path: string; bytes: Promise<Uint8Array | null> }[] = [];
  for (const path of paths) {
    const bytes = tree.read(path);
    // The error is thrown where the promise is awaited.
    bytes.catch(() => undefined);
    reading.push({ path, bytes });
    if (reading.length < readsAtOnce) continue;
    for (const one of reading.splice(0, readsAtOnce / 2)) yield [[one.path, await one.bytes]];
  }
  for (const one of reading) yield [[one.path, await one.bytes]];
}

function unread(skip: SkipReason | null): FileRecord {
  return { skip, tokens: none, package: null };
}

function createIndex(
  tree: SiteTree,
  files: ReadonlyMap<string, string>,
  known: ReadonlyMap<string, FileRecord>,
  counts: Counts,
  read: number,
): SourceIndex {
  const skipped = new Map<string, SkipReason>();
  const packages = new Map<string, unknown>();
  const manifests = new Map<string, string>();
  for (const [path, { skip, package: made }] of known) {
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
    declares: (word) => counts.declared(hashWord(word)) > 0,
    filesWith(word, max = 20, among = known.keys()) {
      const hash = hashWord(word);
      const found: string[] = [];
      for (const path of among) {
        if (found.length >= max) break;
        if (known.get(path)?.tokens.words.includes(hash)) found.push(path);
      }
      return found;
    },
    hasPackage: (name) => packages.has(name),
    manifests,
    exportsPart(name) {
      const own = packageOf(name);
      return exportsPart(packages.get(own), `.${name.slice(own.length)}`);
    },
    knows: (reference) => probesOf(reference, index).length > 0,
  };
  states.set(index, { records: known, counts });
  return index;
}

const locks =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|poetry\.lock|uv\.lock|pdm\.lock|Pipfile\.lock|Cargo\.lock|go\.sum|composer\.lock|Gemfile\.lock|flake\.lock)$/;
const vendored = /(?:^|\/)(?:node_modules|vendor|third_party|bower_components|\.git)\//;
const prose =
  /\.(?:md|mdx|mdc|markdown|rst|adoc|asciidoc|txt|po|pot|svg|csv|tsv|snap|ipynb)$|(?:^|\/)(?:LICEN[CS]E|CHANGELOG|CHANGES|HISTORY|AUTHORS|CODEOWNERS|NOTICE)[^/]*$/i;
const minified = /\.min\.(?:js|css|mjs)$|\.map$|(?:^|\/)dist\//;
const pictures =
  /\.(?:png|jpe?g|gif|webp|avif|ico|icns|bmp|pdf|woff2?|ttf|otf|eot|mp[34]|webm|mov|zip|gz|tgz|jar|wasm|exe|dll|so|dylib|bin|class|pyc)$/i;
const pipelines = /^\.[^/]+(?:\/|$)|^(?:azure-pipelines|appveyor)\.ya?ml$/;

function skipByPath(path: string): SkipReason | null {
  if (pictures.test(path)) return "binary";
  if (locks.test(path)) return "lock file";
  if (vendored.test(path)) return "vendored";
  if (minified.test(path)) return "minified";
  if (pipelines.test(path)) return "CI";
  return prose.test(path) ? "prose" : null;
}

const examples =
  /(?:^|\/)(?:tests?|(?!latest)\w+test|testing|testutils?|__tests__|__mocks__|specs?|e2e|fixtures?|__fixtures__|testdata|mocks?|examples?|demos?|samples?|playgrounds?|sandbox|bench(?:marks?)?|landing|scripts?|website|www|marketing|homepage|templates?)\/|[._-](?:test|spec|bench|stories)\.\w+$|_test\.\w+$|(?:^|\/)test_[^/]*$/i;

/** Tests, examples, manifests, build files and settings at the root use names, but their definitions are not an interface. */
export function isExample(path: string): boolean {
  return (
    examples.test(path) ||
    /\.(?:html?|sh|bash|ps1)$|(?:^|\/)(?:package|composer|tsconfig[^/]*)\.json$|(?:^|\/)(?:pyproject|Cargo)\.toml$|(?:^|\/)(?:Makefile|Dockerfile)[^/]*$|^(?![^/]*schema)[^/]+\.(?:json[5c]?|ya?ml|toml|ini)$/i.test(
      path,
    )
  );
}

const lineMax = 5000;
const maybeGenerated = /generated|not edit/i;
const generated =
  /@generated|code generated .{0,80}do not edit|automatically generated|autogenerated|auto-generated|do not edit this file|this file is generated|generated by /i;

function readFile(path: string, bytes: Uint8Array, read: (bytes: Uint8Array) => Tokens): FileRecord {
  const skip = skipByContent(bytes);
  return skip === null ? { skip, tokens: read(bytes), package: packageAt(path, bytes) } : unread(skip);
}

function skipByContent(bytes: Uint8Array): SkipReason | null {
  if (bytes.length > bytesMax) return "too large";
  const head = bytes.subarray(0, 8000);
  if (head.includes(0)) return "binary";
  if (!isUtf8(bytes)) return "not UTF-8";
  const top = toByteString(bytes.subarray(0, 600));
  if (maybeGenerated.test(top) && generated.test(top)) return "generated";
  return isMinified(bytes) ? "minified" : null;
}

/** Several very long lines: a single one may be a long string in a program. */
function isMinified(bytes: Uint8Array): boolean {
  if (bytes.length < lineMax) return false;
  let long = 0;
  let start = 0;
  while (start + lineMax < bytes.length) {
    // If a line ends within reach, no line up to there is long.
    const near = bytes.lastIndexOf(10, start + lineMax);
    if (near >= start) {
      start = near + 1;
      continue;
    }
    const newline = bytes.indexOf(10, start + lineMax);
    const end = newline === -1 ? bytes.length : newline;
    long += end - start;
    start = end + 1;
  }
  return long * 2 > bytes.length;
}

/** The number of files with each word. A derived table stores only differences, so that both states stay usable. */
interface Counts {
  words(hash: number): number;
  declared(hash: number): number;
  add(tokens: Tokens, isExample: boolean, by: 1 | -1): void;
  derive(): Counts;
}

function createCounts(all = createTable(), difference: WordTable | null = null): Counts {
  return {
    words: (hash) => all.get(hash, 1) + (difference?.get(hash, 1) ?? 0),
    declared: (hash) => all.get(hash, 2) + (difference?.get(hash, 2) ?? 0),
    add: (difference ?? all).add,
    derive() {
      if (difference === null) return createCounts(all, createTable());
      // The difference of many commits: from here on it is cheaper to count anew from a merged table.
      if (difference.size * 4 > all.size) return createCounts(all.plus(difference), createTable());
      return createCounts(all, difference.plus(null));
    },
  };
}

/** A hash table of words in one array: a Map takes four times as long to fill. */
interface WordTable {
  readonly size: number;
  readonly data: Int32Array;
  get(hash: number, field: 1 | 2): number;
  add(tokens: Tokens, isExample: boolean, by: 1 | -1): void;
  addAll(data: Int32Array): void;
  /** A copy, with the numbers of another table added. */
  plus(other: WordTable | null): WordTable;
}

// The hash, or 0 for an empty slot; the files with the word; the files that declare it; one left free.
const slotLength = 4;

function createTable(from?: { data: Int32Array<ArrayBuffer>; size: number }): WordTable {
  let data = from?.data ?? new Int32Array(slotLength << 12);
  let size = from?.size ?? 0;
  let mask = data.length / slotLength - 1;

  function slotOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & mask;
    for (;;) {
      const key = data[slot * slotLength] as number;
      if (key === 0 || key === (hash | 0)) return slot * slotLength;
      slot = (slot + 1) & mask;
    }
  }
  function addOne(hash: number, words: number, declared: number): void {
    let at = slotOf(hash);
    if (data[at] === 0) {
      if (++size * 2 > mask) {
        grow();
        at = slotOf(hash);
      }
      data[at] = hash | 0;
    }
    data[at + 1] = (data[at + 1] as number) + words;
    data[at + 2] = (data[at + 2] as number) + declared;
  }
  function grow(): void {
    const old = data;
    data = new Int32Array(old.length * 2);
    mask = data.length / slotLength - 1;
    for (let from = 0; from < old.length; from += slotLength) {
      if (old[from] === 0) continue;
      const to = slotOf((old[from] as number) >>> 0);
      for (let field = 0; field < slotLength; field++) data[to + field] = old[from + field] as number;
    }
  }
  return {
    get size() {
      return size;
    },
    get data() {
      return data;
    },
    get: (hash, field) => data[slotOf(hash) + field] as number,
    add({ words, declared }, isExample, by) {
      for (let i = 0; i < words.length; i++) addOne(words[i] as number, by, i < declared && !isExample ? by : 0);
    },
    plus(other) {
      const copy = createTable({ data: data.slice(), size });
      if (other !== null) copy.addAll(other.data);
      return copy;
    },
    addAll(of) {
      for (let at = 0; at < of.length; at += slotLength)
        if (of[at] !== 0) addOne((of[at] as number) >>> 0, of[at + 1] as number, of[at + 2] as number);
    },
  };
}
