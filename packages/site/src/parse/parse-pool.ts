import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { BatchSource, ParseBatch, ParsedBatch, ParsedFile, WorkerSetup } from "./parse-worker.ts";
import { threadEnv } from "./thread-env.ts";

type Batch = Omit<ParseBatch, "id">;

export interface ParsePool {
  /** One answer a file, in their order. */
  parse(batch: Batch): Promise<(ParsedFile | null)[]>;
  /** Resolves once another batch would not wait long: whoever reads faster than threads parse waits for it. */
  room(): Promise<unknown>;
  close(): Promise<void>;
}

interface Task {
  batch: Batch;
  resolve(files: (ParsedFile | null)[]): void;
  reject(error: Error): void;
}

const threadsMax = 4;
// One that is worked on and one that waits, so that a thread never does.
const batchesPerThread = 2;
const queueMax = 8;
// Nearly all that parsing makes is garbage at once: more room for it, and collecting it takes a third of the time.
const youngMb = 96;

export interface PoolOptions {
  /** The calling thread has much work of its own: it reads the files. */
  isCallerBusy: boolean;
  known: ReadonlySet<string>;
}

/** Threads for the time of one parse. Starting them costs less than a few hundred pages do. */
export function openParsePool({ isCallerBusy, known }: PoolOptions): ParsePool {
  const size = Math.max(1, Math.min(threadsMax, availableParallelism() - Number(isCallerBusy)));
  const running = new Map<number, Task>();
  const queue: Task[] = [];
  const waiting: (() => void)[] = [];
  let next = 0;
  let fault: Error | null = null;

  function fail(error: Error): void {
    fault ??= error;
    for (const { reject } of [...running.values(), ...queue]) reject(fault);
    running.clear();
    queue.length = 0;
    for (const wake of waiting.splice(0)) wake();
  }

  const workers = Array.from({ length: size }, () => {
    const worker = new Worker(new URL("./parse-worker.ts", import.meta.url), {
      workerData: { known } satisfies WorkerSetup,
      env: threadEnv(),
      resourceLimits: { maxYoungGenerationSizeMb: youngMb },
    });
    const thread = { worker, batches: 0 };
    worker.on("message", ({ id, files }: ParsedBatch) => {
      thread.batches--;
      const task = running.get(id);
      running.delete(id);
      feed();
      task?.resolve(files);
    });
    worker.on("error", fail);
    return thread;
  });

  function feed(): void {
    for (const thread of workers) {
      while (thread.batches < batchesPerThread) {
        const task = queue.shift();
        if (task === undefined) break;
        const id = next++;
        running.set(id, task);
        thread.batches++;
        thread.worker.postMessage({ ...task.batch, id } satisfies ParseBatch, movable(task.batch.source));
      }
    }
    if (queue.length < queueMax) for (const wake of waiting.splice(0)) wake();
  }

  return {
    parse(batch) {
      if (fault !== null) return Promise.reject(fault);
      return new Promise((resolve, reject) => {
        queue.push({ batch, resolve, reject });
        feed();
      });
    },
    room: () =>
      queue.length < queueMax || fault !== null ? Promise.resolve() : new Promise<void>((wake) => waiting.push(wake)),
    async close() {
      await Promise.all(workers.map(({ worker }) => worker.terminate()));
    },
  };
}

function movable(source: BatchSource): ArrayBuffer[] {
  return source.kind === "buffer" ? [source.buffer] : [];
}
