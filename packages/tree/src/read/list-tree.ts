import { isUtf8 } from "node:buffer";
import { isFault } from "@emend/base/fault.ts";
import { TreeFault } from "../faults.ts";
import { type Git, gitError } from "../git/git.ts";
import type { FileMode, TreeEntry, TreeIndex } from "../tree.ts";

const timeMsMax = 120_000;
/** 200,000 files with paths of 180 bytes; held twice while parsing. */
const listBytesMax = 48 * 2 ** 20;

/**
 * Lists every file at a commit with `git ls-tree`. Sizes take most of the time (100 of 115 ms for 14,600 files), so
 * those of a `known` commit are reused and only new files are measured.
 */
export async function listTree(
  git: Git,
  input: { gitDir: string; commit: string; filesMax: number; known?: TreeIndex },
  signal: AbortSignal,
): Promise<TreeIndex> {
  const { gitDir, commit, filesMax, known } = input;
  const args = ["ls-tree", "-r", "-z", ...(known ? [] : ["-l"]), "--full-tree", commit];
  // Counted while streaming: a tree of a few kilobytes may contain one folder ten billion times.
  const chunks: Buffer[] = [];
  let files = 0;
  const onOutput = (chunk: Buffer) => {
    chunks.push(chunk);
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, at + 1)) files += 1;
    return files <= filesMax;
  };
  const result = await git.run({ gitDir, args, timeMsMax, outputBytesMax: listBytesMax, onOutput }, signal);
  if (result.code !== 0) throw unreadableCommit(result.words);
  if (result.cut) {
    const what = files > filesMax ? `more than ${filesMax} files` : "longer paths than Emend supports";
    throw new TreeFault("repository_unavailable", { publicMessage: `The repository has ${what}.` });
  }
  const sizes = known && new Map(known.list.map((entry) => [entry.oid, entry.size]));
  const parsed = parseTree(Buffer.concat(chunks), sizes);
  if (parsed.unmeasured.length > 0) await measure(git, gitDir, parsed.unmeasured, signal);
  return parsed.index;
}

async function measure(git: Git, gitDir: string, entries: readonly TreeEntry[], signal: AbortSignal): Promise<void> {
  const args = ["cat-file", "--batch-check=%(objectsize)", "--buffer"];
  const input = [entries.map((entry) => `${entry.oid}\n`).join("")];
  const result = await git.run({ gitDir, args, input, timeMsMax, outputBytesMax: entries.length * 100 }, signal);
  const lines = result.stdout.toString("latin1").split("\n");
  for (const [index, entry] of entries.entries()) {
    if (!/^\d+$/.test(lines[index] ?? "")) throw unreadableCommit(`a file is missing; ${result.words}`);
    entry.size = Number(lines[index]);
  }
}

function unreadableCommit(words: string): TreeFault {
  const what = "The commit cannot be read from the mirror.";
  return gitError("repository_unavailable", { what, words, retryable: true });
}

/** Records of `<mode> <type> <id>\t<path>`, with the padded size before the tab if sizes were requested. */
function parseTree(
  output: Buffer,
  sizes?: ReadonlyMap<string, number | null>,
): { index: TreeIndex; unmeasured: TreeEntry[] } {
  const records = isUtf8(output) ? output.toString("utf8").split("\0") : splitBytes(output);
  records.pop();
  const list: TreeEntry[] = [];
  const unmeasured: TreeEntry[] = [];
  const entries = new Map<string, TreeEntry>();
  const folderFiles = new Map<string, number>();
  let folder = "";
  let folderCount = 0;
  for (const record of records) {
    const tab = record.indexOf("\t");
    const path = record.slice(tab + 1);
    // Files of a folder are adjacent, so they are counted together.
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (parent !== folder) {
      countFiles(folderFiles, folder, folderCount);
      folder = parent;
      folderCount = 0;
    }
    folderCount += 1;
    if (path.includes(unreadable)) continue;
    const typeEnd = record.indexOf(" ", 7);
    const idEnd = sizes ? tab : record.indexOf(" ", typeEnd + 1);
    const mode = fileMode(record.slice(0, 6));
    const oid = record.slice(typeEnd + 1, idEnd);
    const size = sizes ? sizes.get(oid) : Number(record.slice(idEnd, tab));
    const entry = { path, mode, oid, size: mode === "160000" ? null : (size ?? null) };
    if (entry.size === null && mode !== "160000") unmeasured.push(entry);
    list.push(entry);
    entries.set(path, entry);
  }
  countFiles(folderFiles, folder, folderCount);
  return { index: { list, entries, folderFiles }, unmeasured };
}

/** A lone surrogate, which valid UTF-8 never decodes to: marks a segment that is not valid UTF-8. */
const unreadable = "\ud800";

function splitBytes(output: Buffer): string[] {
  const records: string[] = [];
  let start = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, start)) {
    const record = output.subarray(start, end);
    records.push(isUtf8(record) ? record.toString("utf8") : readableSegments(record));
    start = end + 1;
  }
  records.push("");
  return records;
}

function readableSegments(record: Buffer): string {
  const segments: string[] = [];
  for (let start = 0; start <= record.length; ) {
    const slash = record.indexOf(47, start);
    const end = slash === -1 ? record.length : slash;
    const segment = record.subarray(start, end);
    segments.push(isUtf8(segment) ? segment.toString("utf8") : segmentWithHead(segment));
    start = end + 1;
  }
  return segments.join("/");
}

/** The first segment has mode and id before its tab. */
function segmentWithHead(segment: Buffer): string {
  const tab = segment.indexOf(9);
  return tab === -1 ? unreadable : segment.toString("latin1", 0, tab + 1) + unreadable;
}

/** Counts a folder and all its parents. */
function countFiles(folderFiles: Map<string, number>, folder: string, files: number): void {
  for (let name = folder; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf("/")))) {
    folderFiles.set(name, (folderFiles.get(name) ?? 0) + files);
  }
}

/** Git has kept unusual modes (100664) from its early days. They mean plain or executable. */
function fileMode(mode: string): FileMode {
  if (mode === "120000" || mode === "160000") return mode;
  return Number.parseInt(mode, 8) & 0o100 ? "100755" : "100644";
}

/** A cache of commits' file lists, bounded by the total number of files. Concurrent callers share one load. */
export interface IndexCache {
  get(key: string, load: () => Promise<TreeIndex>): Promise<TreeIndex>;
}

/** How much a cached refusal counts. */
const refusalFiles = 100;

export function createIndexCache(filesMax: number): IndexCache {
  const indexes = new Map<string, Promise<TreeIndex>>();
  /** Loaded lists, least recently used first. */
  const sizes = new Map<string, number>();

  function forget(key: string): void {
    indexes.delete(key);
    sizes.delete(key);
  }
  function use(key: string, size: number): void {
    sizes.delete(key);
    sizes.set(key, size);
  }
  /** The last one always stays. */
  function makeRoom(): void {
    let files = sizes.values().reduce((sum, size) => sum + size, 0);
    for (const [key, size] of [...sizes].slice(0, -1)) {
      if (files <= filesMax) return;
      files -= size;
      forget(key);
    }
  }

  return {
    get(key, load) {
      const known = indexes.get(key);
      const size = sizes.get(key);
      if (size !== undefined) use(key, size);
      if (known) return known;
      const loading = load();
      indexes.set(key, loading);
      loading.then(
        (index) => {
          use(key, index.list.length);
          makeRoom();
        },
        (error: unknown) => {
          // A commit never changes, so a permanent error is cached too.
          if (isFault(error) && !error.retryable) use(key, refusalFiles);
          else forget(key);
        },
      );
      return loading;
    },
  };
}
