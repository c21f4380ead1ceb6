import { close, openSync, rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { usefulThreads } from "../parse/parse-pool.ts";
import { threadEnv } from "../parse/threads.ts";
import type { SiteFile, SiteTree } from "../types.ts";
import type { FileRecord } from "./read-source-file.ts";
import type { FileBatch, ReadBatch } from "./source-worker.ts";
import { createTable, type TableData, type WordTable } from "./word-table.ts";

/** Gets each file, in any order; null: there is none. */
export type TakeFile = (file: SiteFile, record: FileRecord | null) => void;

// One for each thread, unless that takes too much memory: each takes a process.
const batchBytesMax = 64 * 1024 * 1024;
// A new thread takes a third of a second to become fast, so threads wait for more work.
const idleMs = 30_000;

const idle: Worker[] = [];
let stopping: NodeJS.Timeout | undefined;

function startThread(): Worker {
  const worker = new Worker(new URL("./source-worker.ts", import.meta.url), {
    env: threadEnv(),
    name: "emend-sources",
  });
  // An idle thread that ends is not an error of the process.
  worker.on("error", () => undefined);
  worker.once("exit", () => {
    const at = idle.indexOf(worker);
    if (at !== -1) idle.splice(at, 1);
  });
  return worker;
}

/** Keeps threads for the next source. They do not keep the process running. */
function rest(threads: readonly Worker[]): void {
  for (const worker of threads) {
    worker.unref();
    idle.push(worker);
  }
  clearTimeout(stopping);
  stopping = setTimeout(() => {
    for (const worker of idle.splice(0)) void worker.terminate();
  }, idleMs).unref();
}

/** Reads source files in threads. Returns the words of all files, in several tables. */
export async function readInThreads(
  files: readonly SiteFile[],
  copyOut: NonNullable<SiteTree["copyOut"]>,
  take: TakeFile,
  signal: AbortSignal | undefined,
): Promise<WordTable[]> {
  const threads = Array.from({ length: usefulThreads(0) }, () => idle.pop() ?? startThread());
  for (const worker of threads) worker.ref();
  const batches = batchesOf(files, threads.length);
  // Git and the thread take turns: together they keep one core busy.
  async function readSome(worker: Worker): Promise<TableData> {
    for (let batch = batches.shift(); batch !== undefined; batch = batches.shift()) {
      signal?.throwIfAborted();
      const paths = batch.map(({ path }) => path);
      const hashes = batch.map(({ hash = "" }) => hash);
      const file = openOnce(await copyOut(hashes, signal));
      try {
        takeBatch(await ask<ReadBatch>(worker, { file, paths } satisfies FileBatch), batch, take);
      } finally {
        // Nobody waits until the system has freed the memory.
        close(file);
      }
    }
    return ask<TableData>(worker, "end");
  }

  let isDone = false;
  try {
    // If one fails, the others end with what they have begun: a thread that is terminated would never answer.
    const failed = (error: unknown) => {
      batches.length = 0;
      throw error;
    };
    const outcomes = await Promise.allSettled(threads.map((worker) => readSome(worker).catch(failed)));
    const tables = outcomes.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    });
    signal?.throwIfAborted();
    isDone = true;
    return tables.map(createTable);
  } finally {
    if (isDone) rest(threads);
    else await Promise.all(threads.map((worker) => worker.terminate()));
  }
}

/** Opens a file and removes its name, so that it is gone when it is closed, even if this process dies. */
function openOnce(path: string): number {
  try {
    return openSync(path, "r");
  } finally {
    rmSync(path, { force: true });
  }
}

function batchesOf(files: readonly SiteFile[], threads: number): SiteFile[][] {
  const total = files.reduce((sum, { size = 0 }) => sum + size, 0);
  const bytesMax = Math.min(batchBytesMax, total / threads);
  const batches: SiteFile[][] = [];
  let bytes = Infinity;
  for (const file of files) {
    if (bytes > bytesMax) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)?.push(file);
    bytes += file.size ?? 0;
  }
  return batches;
}

function ask<Answer>(worker: Worker, question: FileBatch | "end"): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const failed = () => reject(new Error("a thread that reads sources has ended"));
  worker.once("message", resolve).once("error", reject).once("exit", failed);
  worker.postMessage(question);
  return promise.finally(() => worker.off("message", resolve).off("error", reject).off("exit", failed));
}

function takeBatch({ skips, words, ends, packages }: ReadBatch, files: readonly SiteFile[], take: TakeFile): void {
  let start = 0;
  for (const [i, file] of files.entries()) {
    const end = ends[i] as number;
    const skip = skips[i];
    take(
      file,
      skip === undefined ? null : { skip, words: words.subarray(start, end), package: packages.get(i) ?? null },
    );
    start = end;
  }
}
