import { Worker } from "node:worker_threads";

/** Where a reader's thread comes from, and where it goes once nothing is asked of it. */
export interface PageThreads {
  take(): Worker;
  giveBack(thread: Worker): void;
}

/** More jobs seldom read a page at one moment; a thread holds some 30 MB. */
const idleMax = 2;
const idleMs = 60_000;

/**
 * Keeps threads that have nothing to do for the next reader: loading the parser takes far longer than reading a page with
 * it. They go after a while without one, and never hold the process.
 */
export function createPageThreads(): PageThreads {
  const idle = new Map<Worker, NodeJS.Timeout>();

  function forget(thread: Worker): void {
    clearTimeout(idle.get(thread));
    idle.delete(thread);
  }

  return {
    take() {
      const [kept] = idle.keys();
      if (!kept) {
        const thread = startThread();
        // One that ends of itself while nobody asks it is no fault of the process.
        return thread.on("error", () => undefined).on("exit", () => forget(thread));
      }
      forget(kept);
      kept.ref();
      return kept;
    },
    giveBack(thread) {
      if (idle.size >= idleMax) return void thread.terminate();
      thread.unref();
      idle.set(thread, setTimeout(() => void thread.terminate(), idleMs).unref());
    },
  };
}

/** For one reader: nothing is kept. */
export const unkeptThreads: PageThreads = { take: startThread, giveBack: (thread) => void thread.terminate() };

function startThread(): Worker {
  // Nothing of the server's environment: a thread that reads strangers' pages needs none of it.
  return new Worker(new URL("./page-worker.ts", import.meta.url), { env: {} });
}
