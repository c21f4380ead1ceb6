import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { isAbsent } from "../text/absent.ts";
import { contentHash } from "./content-hash.ts";
import type { Dialect } from "./dialect.ts";
import { encodeRecord } from "./page-record.ts";
import { scanPage } from "./scan-page.ts";

/** Where the bytes of a batch are: in one buffer, one file behind the other, or still on disk. */
export type BatchSource =
  | { kind: "buffer"; buffer: ArrayBuffer; ends: readonly number[]; hashes: readonly string[] }
  | { kind: "disk"; folder: string; paths: readonly string[] };

export interface ParseBatch {
  id: number;
  source: BatchSource;
  dialect: Dialect;
  dialectKey: string;
}

export interface WorkerSetup {
  /** Keys of records that need not be made. */
  known: ReadonlySet<string>;
}

export interface ParsedFile {
  hash: string;
  /** Null where it is known already. Text crosses threads faster than objects do. */
  record: string | null;
}

export interface ParsedBatch {
  id: number;
  /** Null where there is no such file. */
  files: (ParsedFile | null)[];
}

const { known } = workerData as WorkerSetup;

function* filesOf(source: BatchSource): Generator<{ bytes: Uint8Array; hash: string } | null> {
  if (source.kind === "disk") {
    for (const path of source.paths) {
      const bytes = readIfThere(join(source.folder, path));
      yield bytes === null ? null : { bytes, hash: contentHash(bytes) };
    }
    return;
  }
  let start = 0;
  for (const [i, end] of source.ends.entries()) {
    yield { bytes: new Uint8Array(source.buffer, start, end - start), hash: source.hashes[i] as string };
    start = end;
  }
}

function readIfThere(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

parentPort?.on("message", ({ id, source, dialect, dialectKey }: ParseBatch) => {
  const files: (ParsedFile | null)[] = [];
  for (const file of filesOf(source)) {
    if (file === null) files.push(null);
    else {
      const isKnown = known.has(`${dialectKey}:${file.hash}`);
      files.push({ hash: file.hash, record: isKnown ? null : encodeRecord(scanPage(file.bytes, dialect)) });
    }
  }
  parentPort?.postMessage({ id, files } satisfies ParsedBatch);
});
