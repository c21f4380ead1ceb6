import { parentPort, workerData } from "node:worker_threads";
import { type CodeReference, findCodeReferences } from "../references/find-references.ts";
import type { Dialect, PageFacts } from "./dialect.ts";
import { createFileReader, type FileRead } from "./file-reader.ts";
import { scanBrief, scanPage } from "./scan-page.ts";

/** The bytes of a batch: in one buffer, file after file, or still on disk. */
export type BatchSource =
  | { kind: "buffer"; buffer: ArrayBuffer; ends: readonly number[]; hashes: readonly string[] }
  | { kind: "disk"; folder: string; paths: readonly string[] };

export interface ParseBatch {
  source: BatchSource;
  dialect: Dialect;
  dialectKey: string;
}

export interface WorkerSetup {
  /** Keys of cached records, which need not be created. */
  known: ReadonlySet<string>;
}

/** One string crosses threads faster than many, and much faster than objects. */
export interface ParsedBatch {
  /** Content hashes of the files. Null if the file does not exist. */
  hashes: readonly (string | null)[];
  /** One line per file: the page's brief as JSON, or empty if it is already cached. */
  records: string;
}

export type WorkerTask =
  | { kind: "batch"; batch: ParseBatch }
  | { kind: "facts"; bytes: Uint8Array; dialect: Dialect }
  | { kind: "references"; path: string; bytes: Uint8Array; dialect: Dialect };

export interface WorkerAnswer {
  id: number;
  value: ParsedBatch | PageFacts | CodeReference[];
}

const { known } = workerData as WorkerSetup;
const readFile = createFileReader();

function* filesOf(source: BatchSource): Generator<FileRead | null> {
  if (source.kind === "disk") {
    for (const path of source.paths) yield readFile(`${source.folder}/${path}`);
    return;
  }
  let start = 0;
  for (const [i, end] of source.ends.entries()) {
    yield { bytes: new Uint8Array(source.buffer, start, end - start), hash: source.hashes[i] as string };
    start = end;
  }
}

function parseBatch({ source, dialect, dialectKey }: ParseBatch): ParsedBatch {
  const hashes: (string | null)[] = [];
  let records = "";
  for (const file of filesOf(source)) {
    hashes.push(file?.hash ?? null);
    const isKnown = file === null || (known.size > 0 && known.has(`${dialectKey}:${file.hash}`));
    records += isKnown ? "\n" : `${JSON.stringify(scanBrief(file.bytes, dialect))}\n`;
  }
  return { hashes, records };
}

parentPort?.on("message", ({ id, task }: { id: number; task: WorkerTask }) => {
  parentPort?.postMessage({ id, value: answerTo(task) } satisfies WorkerAnswer);
});

function answerTo(task: WorkerTask): WorkerAnswer["value"] {
  switch (task.kind) {
    case "batch":
      return parseBatch(task.batch);
    case "facts":
      return scanPage(task.bytes, task.dialect);
    case "references":
      return findCodeReferences(task.path, task.bytes, task.dialect);
  }
}
