import { isUtf8 } from "node:buffer";
import { createTimeSlice } from "../text/time-slice.ts";
import type { SiteTree } from "../types.ts";
import type { CodeReference } from "./find-references.ts";
import { exportsPart, type Package, packageAt, packageOf } from "./manifests.ts";
import { probesOf } from "./probes.ts";
import { createTokenReader, hashWord, type Tokens } from "./source-tokens.ts";

/** Why a file's content was not indexed. */
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
  /** The files that contain a word, at most `max`. */
  filesWith(word: string, max?: number): string[];
  /** Whether a package with this name is built from these sources. */
  hasPackage(name: string): boolean;
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

/** The index record of one file. */
interface FileRecord {
  skip: SkipReason | null;
  tokens: Tokens;
  package: Package | null;
}

const bytesMax = 1024 * 1024;
// The read-ahead: files are read while an earlier one is parsed.
const readsAtOnce = 64;
const none: Tokens = { words: new Uint32Array(0), declared: new Uint32Array(0) };
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
  let readCount = 0;
  const reading: { path: string; before: FileRecord | undefined; bytes: Promise<Uint8Array | null> }[] = [];
  const finish = async (left: number): Promise<void> => {
    while (reading.length > left) {
      const { path, before, bytes } = reading.shift() as (typeof reading)[number];
      const content = await bytes;
      if (content !== null) readCount++;
      note(path, before, content === null ? unread(null) : readFile(path, content, read));
    }
  };
  const note = (path: string, before: FileRecord | undefined, after: FileRecord): void => {
    known.set(path, after);
    changed.push({ path, before, after });
  };
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
    if (skip !== null) {
      note(path, before, unread(skip));
      continue;
    }
    const bytes = tree.read(path);
    // The error is thrown where the promise is awaited.
    bytes.catch(() => undefined);
    reading.push({ path, before, bytes });
    if (reading.length >= readsAtOnce) await finish(readsAtOnce / 2);
  }
  await finish(0);
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
  for (const [path, { skip, package: made }] of known) {
    if (skip !== null) skipped.set(path, skip);
    if (made !== null && !examples.test(path) && !/(?:^|\/)(?:tools|scripts)\//.test(path))
      packages.set(made.name, made.manifest);
  }
  const index: SourceIndex = {
    tree,
    files,
    skipped,
    read,
    has: (word) => counts.words(hashWord(word)) > 0,
    declares: (word) => counts.declared(hashWord(word)) > 0,
    filesWith(word, max = 20) {
      const hash = hashWord(word);
      const found: string[] = [];
      for (const [path, { tokens }] of known) {
        if (found.length >= max) break;
        if (tokens.words.includes(hash)) found.push(path);
      }
      return found;
    },
    hasPackage: (name) => packages.has(name),
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
const pipelines = /^\.[^/]+\/|^(?:\.gitlab-ci|\.travis|azure-pipelines|appveyor|\.pre-commit-config)\.ya?ml$/;

function skipByPath(path: string): SkipReason | null {
  if (pictures.test(path)) return "binary";
  if (locks.test(path)) return "lock file";
  if (vendored.test(path)) return "vendored";
  if (minified.test(path)) return "minified";
  if (pipelines.test(path)) return "CI";
  return prose.test(path) ? "prose" : null;
}

const examples =
  /(?:^|\/)(?:tests?|__tests__|__mocks__|specs?|e2e|fixtures?|__fixtures__|testdata|mocks?|examples?|demos?|samples?|playgrounds?|sandbox|bench(?:marks?)?|landing|website|www|marketing|homepage|templates?)\/|[._-](?:test|spec|bench|stories)\.\w+$|_test\.\w+$|(?:^|\/)test_[^/]*$/i;

/** Tests, examples and manifests use names, but their definitions are not an interface. */
function isExample(path: string): boolean {
  return (
    examples.test(path) ||
    /\.(?:html?|sh|bash|ps1)$|(?:^|\/)(?:package|composer)\.json$|(?:^|\/)(?:pyproject|Cargo)\.toml$/i.test(path)
  );
}

const lineMax = 5000;
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
  if (generated.test(Buffer.from(bytes.subarray(0, 600)).toString("latin1"))) return "generated";
  return isMinified(bytes) ? "minified" : null;
}

/** Several very long lines: a single one may be a long string in a program. */
function isMinified(bytes: Uint8Array): boolean {
  if (bytes.length < lineMax) return false;
  let long = 0;
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(10, start);
    const end = newline === -1 ? bytes.length : newline;
    if (end - start > lineMax) long += end - start;
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

function createCounts(): Counts {
  const words = createTable();
  const declared = createTable();
  const counts: Counts = {
    words: words.get,
    declared: declared.get,
    add(tokens, isExample, by) {
      for (const hash of tokens.words) words.add(hash, by);
      if (!isExample) for (const hash of tokens.declared) declared.add(hash, by);
    },
    derive: () => deriveCounts(counts, new Map(), new Map()),
  };
  return counts;
}

function deriveCounts(
  base: Counts,
  earlierWords: ReadonlyMap<number, number>,
  earlierDeclared: ReadonlyMap<number, number>,
): Counts {
  const words = new Map(earlierWords);
  const declared = new Map(earlierDeclared);
  const bump = (map: Map<number, number>, hash: number, by: number): unknown =>
    map.set(hash, (map.get(hash) ?? 0) + by);
  return {
    words: (hash) => base.words(hash) + (words.get(hash) ?? 0),
    declared: (hash) => base.declared(hash) + (declared.get(hash) ?? 0),
    add(tokens, isExample, by) {
      for (const hash of tokens.words) bump(words, hash, by);
      if (!isExample) for (const hash of tokens.declared) bump(declared, hash, by);
    },
    derive: () => deriveCounts(base, words, declared),
  };
}

/** A hash table in two arrays, hash → number: a Map of a million numbers takes four times as long to fill. */
function createTable(): { get(hash: number): number; add(hash: number, by: number): void } {
  let size = 1 << 16;
  let keys = new Uint32Array(size);
  let counts = new Int32Array(size);
  let used = new Uint8Array(size);
  let count = 0;
  function slotOf(hash: number): number {
    let slot = (hash ^ (hash >>> 15)) & (size - 1);
    while (used[slot] === 1 && keys[slot] !== hash) slot = (slot + 1) & (size - 1);
    return slot;
  }
  function add(hash: number, by: number): void {
    const slot = slotOf(hash);
    if (used[slot] !== 1) {
      used[slot] = 1;
      keys[slot] = hash;
      count++;
    }
    counts[slot] = (counts[slot] as number) + by;
    if (count * 2 > size) grow();
  }
  function grow(): void {
    const [oldKeys, oldCounts, oldUsed] = [keys, counts, used];
    size *= 2;
    keys = new Uint32Array(size);
    counts = new Int32Array(size);
    used = new Uint8Array(size);
    for (let i = 0; i < oldKeys.length; i++) {
      if (oldUsed[i] !== 1) continue;
      const slot = slotOf(oldKeys[i] as number);
      used[slot] = 1;
      keys[slot] = oldKeys[i] as number;
      counts[slot] = oldCounts[i] as number;
    }
  }
  return { add, get: (hash) => counts[slotOf(hash)] as number };
}
