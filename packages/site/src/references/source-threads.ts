import { Worker } from "node:worker_threads";
import { threadEnv } from "../parse/threads.ts";
import { bytesMax, type FileRecord, unread } from "./read-source-file.ts";
import type { FileBatch, ReadBatch } from "./source-worker.ts";
import { createTable, type TableData, type WordTable } from "./word-table.ts";

/** Files in batches. Each batch is valid until the next. */
export type Contents = AsyncIterable<Iterable<readonly [path: string, content: Uint8Array | null]>>;

/** Gets each file once, in any order. */
export type TakeFile = (path: string, record: FileRecord, isRead: boolean) => void;

// A batch has room for the largest file that is read. It is sent when it is half full.
const batchBytes = bytesMax;
// One batch in progress and one queued, so that a thread never waits.
const batchesPerThread = 2;
// A new thread takes a third of a second to become fast, so threads wait for more work.
const idleMs = 30_000;

interface Thread {
  worker: Worker;
  free: ArrayBuffer[];
}

const idle: Thread[] = [];
let stopping: NodeJS.Timeout | undefined;

function startThread(): Thread {
  const worker = new Worker(new URL("./source-worker.ts", import.meta.url), {
    env: threadEnv(),
    name: "emend-sources",
  });
  const free = Array.from({ length: batchesPerThread }, () => new ArrayBuffer(batchBytes));
  const thread = { worker, free };
  worker.once("exit", () => {
    const at = idle.indexOf(thread);
    if (at !== -1) idle.splice(at, 1);
  });
  return thread;
}

/** Keeps threads for the next source. They do not keep the process running. */
function rest(threads: readonly Thread[]): void {
  for (const thread of threads) {
    // An idle thread that ends is not an error of the process.
    thread.worker
      .removeAllListeners("message")
      .removeAllListeners("error")
      .on("error", () => undefined);
    thread.worker.unref();
    idle.push(thread);
  }
  clearTimeout(stopping);
  stopping = setTimeout(() => {
    for (const { worker } of idle.splice(0)) void worker.terminate();
  }, idleMs).unref();
}

/** The threads that wait for work. */
export function idleThreads(): number {
  return idle.length;
}

/** Reads source files in threads. Returns the words of all files, in several tables. */
export async function readInThreads(
  contents: Contents,
  take: TakeFile,
  { count, signal }: { count: number; signal?: AbortSignal | undefined },
): Promise<WordTable[]> {
  const tables: WordTable[] = [];
  let fault: Error | null = null;
  let wake = (): void => undefined;
  const threads = Array.from({ length: count }, () => {
    const thread = idle.pop() ?? startThread();
    thread.worker.ref();
    thread.worker.on("error", (error) => {
      fault ??= error;
      wake();
    });
    thread.worker.on("message", (answer: ReadBatch | TableData) => {
      if ("data" in answer) tables.push(createTable(answer));
      else {
        thread.free.push(answer.buffer);
        takeBatch(answer, take);
      }
      wake();
    });
    return thread;
  });
  async function answer(): Promise<void> {
    if (fault === null) await new Promise<void>((resolve) => (wake = resolve));
    if (fault !== null) throw fault;
  }

  let batch: (FileBatch & { thread: Thread; bytes: Uint8Array; paths: string[]; ends: number[] }) | null = null;
  function send(): void {
    if (batch === null) return;
    const { thread, buffer, paths, ends } = batch;
    batch = null;
    thread.worker.postMessage({ buffer, paths, ends } satisfies FileBatch, [buffer]);
  }

  let isDone = false;
  try {
    for await (const files of contents) {
      signal?.throwIfAborted();
      for (const [path, content] of files) {
        if (content === null || content.length > bytesMax) {
          take(path, unread(content === null ? null : "too large"), content !== null);
          continue;
        }
        if (batch !== null && (batch.ends.at(-1) ?? 0) + content.length > batchBytes) send();
        while (batch === null) {
          const thread = threads.reduce((least, one) => (one.free.length > least.free.length ? one : least));
          const buffer = thread.free.pop();
          if (buffer === undefined) await answer();
          else batch = { thread, buffer, bytes: new Uint8Array(buffer), paths: [], ends: [] };
        }
        const end = (batch.ends.at(-1) ?? 0) + content.length;
        batch.bytes.set(content, end - content.length);
        batch.paths.push(path);
        batch.ends.push(end);
        if (end > batchBytes / 2) send();
      }
    }
    send();
    for (const { worker } of threads) worker.postMessage("end");
    while (tables.length < count) await answer();
    signal?.throwIfAborted();
    isDone = true;
    return tables;
  } finally {
    if (isDone) rest(threads);
    else await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }
}

function takeBatch({ paths, skips, words, bounds, packages }: ReadBatch, take: TakeFile): void {
  let start = 0;
  for (const [i, path] of paths.entries()) {
    const end = bounds[i * 2] as number;
    const tokens = { words: words.subarray(start, end), declared: bounds[i * 2 + 1] as number };
    take(path, { skip: skips[i] ?? null, tokens, package: packages.get(i) ?? null }, true);
    start = end;
  }
}
