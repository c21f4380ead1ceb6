import { parentPort } from "node:worker_threads";
import type { Package } from "./manifests.ts";
import { isExample, readSourceFile, type SkipReason } from "./read-source-file.ts";
import { createTokenReader } from "./source-tokens.ts";
import { createTable, type TableData } from "./word-table.ts";

/** Files in one buffer, each after the other. */
export interface FileBatch {
  buffer: ArrayBuffer;
  paths: readonly string[];
  ends: readonly number[];
}

/** What the files of a batch contain, in few large pieces: they cross threads faster than many small ones. */
export interface ReadBatch {
  /** The buffer of the files, to be used again. */
  buffer: ArrayBuffer;
  paths: readonly string[];
  skips: readonly (SkipReason | null)[];
  /** The words of all files. */
  words: Uint32Array<ArrayBuffer>;
  /** For each file, the end of its words and how many of them it declares. */
  bounds: readonly number[];
  packages: ReadonlyMap<number, Package>;
}

const read = createTokenReader();
let table = createTable();

function readBatch({ buffer, paths, ends }: FileBatch): ReadBatch {
  const skips: (SkipReason | null)[] = [];
  const bounds: number[] = [];
  const packages = new Map<number, Package>();
  const pieces: Uint32Array[] = [];
  let [start, count] = [0, 0];
  for (const [i, path] of paths.entries()) {
    const end = ends[i] as number;
    const { skip, tokens, package: made } = readSourceFile(path, new Uint8Array(buffer, start, end - start), read);
    start = end;
    table.add(tokens, isExample(path), 1);
    skips.push(skip);
    count += tokens.words.length;
    bounds.push(count, tokens.declared);
    pieces.push(tokens.words);
    if (made !== null) packages.set(i, made);
  }
  const words = new Uint32Array(count);
  for (const [i, piece] of pieces.entries()) words.set(piece, (bounds[i * 2] as number) - piece.length);
  return { buffer, paths, skips, words, bounds, packages };
}

parentPort?.on("message", (batch: FileBatch | "end") => {
  if (batch === "end") {
    const { data, size } = table;
    table = createTable();
    parentPort?.postMessage({ data, size } satisfies TableData, [data.buffer]);
    return;
  }
  const answer = readBatch(batch);
  parentPort?.postMessage(answer, [answer.buffer, answer.words.buffer]);
});
