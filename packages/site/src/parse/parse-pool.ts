import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { ParseBatch, ParsedBatch, WorkerAnswer, WorkerSetup, WorkerTask } from "./parse-worker.ts";
import { threadEnv } from "./threads.ts";

export interface ParsePool {
  /** One result per file, in order. */
  parse(batch: ParseBatch): Promise<ParsedBatch>;
  /** Backpressure: resolves when another batch would not wait long. */
  room(): Promise<unknown>;
  close(): Promise<void>;
}

interface Queued {
  task: WorkerTask;
  resolve(value: WorkerAnswer["value"]): void;
  reject(error: Error): void;
}

const threadsMax = 4;
// One batch in progress and one queued, so that a thread never waits.
const batchesPerThread = 2;
const queueMax = 8;
// Nearly everything that parsing allocates is short-lived. A larger young generation makes garbage collection three
// times faster.
const youngMb = 96;

export interface PoolOptions {
  threads: number;
  known: ReadonlySet<string>;
}

/** The useful number of threads, besides those that are busy with other work. */
export function usefulThreads(busy: number): number {
  return Math.max(1, Math.min(threadsMax, availableParallelism() - busy));
}

/** Threads for one parse. Starting them costs less than parsing a few hundred pages. */
export function openParsePool({ threads, known }: PoolOptions): ParsePool {
  const running = new Map<number, Queued>();
  const queue: Queued[] = [];
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

  const workers = Array.from({ length: threads }, () => {
    const worker = new Worker(new URL("./parse-worker.ts", import.meta.url), {
      workerData: { known } satisfies WorkerSetup,
      env: threadEnv(),
      name: "emend-parse",
      resourceLimits: { maxYoungGenerationSizeMb: youngMb },
    });
    const thread = { worker, batches: 0 };
    worker.on("message", ({ id, value }: WorkerAnswer) => {
      thread.batches--;
      const done = running.get(id);
      running.delete(id);
      feed();
      done?.resolve(value);
    });
    worker.on("error", fail);
    return thread;
  });

  function feed(): void {
    for (const thread of workers) {
      while (thread.batches < batchesPerThread) {
        const queued = queue.shift();
        if (queued === undefined) break;
        const id = next++;
        running.set(id, queued);
        thread.batches++;
        thread.worker.postMessage({ id, task: queued.task }, movable(queued.task));
      }
    }
    if (queue.length < queueMax) for (const wake of waiting.splice(0)) wake();
  }

  function run(task: WorkerTask): Promise<WorkerAnswer["value"]> {
    if (fault !== null) return Promise.reject(fault);
    return new Promise((resolve, reject) => {
      queue.push({ task, resolve, reject });
      feed();
    });
  }

  return {
    parse: async (batch) => (await run({ kind: "batch", batch })) as ParsedBatch,
    room: () =>
      queue.length < queueMax || fault !== null ? Promise.resolve() : new Promise<void>((wake) => waiting.push(wake)),
    async close() {
      await Promise.all(workers.map(({ worker }) => worker.terminate()));
    },
  };
}

function movable(task: WorkerTask): ArrayBuffer[] {
  return task.kind === "batch" && task.batch.source.kind === "buffer" ? [task.batch.source.buffer] : [];
}
