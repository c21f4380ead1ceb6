import { fstatSync, readSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { parseBlobs } from "../git-source.ts";
import type { Package } from "./manifests.ts";
import { readSourceFile, type SkipReason } from "./read-source-file.ts";
import { createWordReader } from "./source-words.ts";
import { createTable, type TableData } from "./word-table.ts";

/** An open file with the contents of these paths, each after the other; see `SiteTree.copyOut`. */
export interface FileBatch {
  file: number;
  paths: readonly string[];
}

/** What the files of a batch contain, in few large pieces: they cross threads faster than many small ones. */
export interface ReadBatch {
  /** Undefined: there is no such file. */
  skips: readonly (SkipReason | null | undefined)[];
  /** The words of all files, and where those of each file end. */
  words: Uint32Array<ArrayBuffer>;
  ends: readonly number[];
  packages: ReadonlyMap<number, Package>;
}

const read = createWordReader();
let table = createTable();

let words = new Uint32Array(1 << 16);

function readBatch({ file, paths }: FileBatch): ReadBatch {
  const skips: (SkipReason | null | undefined)[] = [];
  const ends: number[] = [];
  const packages = new Map<number, Package>();
  let end = 0;
  for (const content of parseBlobs(readWhole(file), paths.length)) {
    const record = content === null ? null : readSourceFile(paths[skips.length] as string, content, read);
    if (record !== null) {
      if (end + record.words.length > words.length) words = enlarge(words, record.words.length);
      words.set(record.words, end);
      end += record.words.length;
      if (record.package !== null) packages.set(skips.length, record.package);
    }
    skips.push(record?.skip);
    ends.push(end);
  }
  const all = words.slice(0, end);
  table.add(all, 1);
  return { skips, words: all, ends, packages };
}

function enlarge(old: Uint32Array, by: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(old.length * 2 + by);
  larger.set(old);
  return larger;
}

let buffer = Buffer.alloc(0);

function readWhole(file: number): Buffer {
  const { size } = fstatSync(file);
  if (size > buffer.length) buffer = Buffer.allocUnsafeSlow(size);
  let held = 0;
  while (held < size) {
    const bytes = readSync(file, buffer, held, size - held, held);
    if (bytes === 0) break;
    held += bytes;
  }
  return buffer.subarray(0, held);
}

parentPort?.on("message", (batch: FileBatch | "end") => {
  if (batch === "end") {
    const { data, size } = table;
    table = createTable();
    parentPort?.postMessage({ data, size } satisfies TableData, [data.buffer]);
    return;
  }
  const answer = readBatch(batch);
  parentPort?.postMessage(answer, [answer.words.buffer]);
});
