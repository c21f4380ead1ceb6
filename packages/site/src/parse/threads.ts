import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";
import type { Worker } from "node:worker_threads";

/** A thread's environment. With this process's compile cache, threads start five times faster. */
export function threadEnv(): NodeJS.ProcessEnv {
  return { ...process.env, ...compileCacheEnv() };
}

/** The environment of a thread that reads untrusted input: nothing but the compile cache. */
export function compileCacheEnv(): NodeJS.ProcessEnv {
  const dir = getCompileCacheDir();
  // Node adds a subfolder for its version to the configured folder.
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dirname(dir) };
}

/** Enough for any page that people write. A thread that needs more ends, and its question fails. */
export const threadLimits = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };

/** Threads of one kind, without state. Any of them can answer any question. */
export interface ThreadPool<Question, Answer> {
  /** Throws `ThreadTimeout` if there is no answer in time. The time starts when a thread takes the question. */
  ask(question: Question, msMax: number): Promise<Answer>;
}

export class ThreadTimeout extends Error {}

const idleMs = 60_000;

interface Waiting<Question, Answer> {
  question: Question;
  msMax: number;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/**
 * Runs slow parsers in worker threads: a hostile page may keep one busy forever. There are at most `threadsMax`, and
 * further questions wait: a thread uses 30 MB, and a hostile page far more. Idle threads are kept for a while, because
 * loading a parser takes far longer than parsing a page. They never keep the process alive.
 */
export function createThreadPool<Question, Answer>(
  startThread: () => Worker,
  { threadsMax = 2 } = {},
): ThreadPool<Question, Answer> {
  const idle = new Map<Worker, NodeJS.Timeout>();
  const waiting: Waiting<Question, Answer>[] = [];
  let busy = 0;

  function takeThread(): Worker {
    const [kept] = idle.keys();
    if (!kept) {
      const thread = startThread();
      // An idle thread that ends is not an error of the process.
      return thread.on("error", () => undefined).on("exit", () => idle.delete(thread));
    }
    clearTimeout(idle.get(kept));
    idle.delete(kept);
    kept.ref();
    return kept;
  }

  function giveBack(thread: Worker): void {
    thread.unref();
    idle.set(thread, setTimeout(() => void thread.terminate(), idleMs).unref());
  }

  function feed(): void {
    while (busy < threadsMax) {
      const next = waiting.shift();
      if (next === undefined) return;
      busy += 1;
      void answer(next).then(() => {
        busy -= 1;
        feed();
      });
    }
  }

  /** Resolves when the thread is free again, or gone. */
  async function answer({ question, msMax, resolve, reject }: Waiting<Question, Answer>): Promise<void> {
    const thread = takeThread();
    const { promise, ...settle } = Promise.withResolvers<Answer>();
    const onExit = () => settle.reject(new Error("the thread ended before it answered"));
    const late = setTimeout(() => settle.reject(new ThreadTimeout(`no answer in ${msMax / 1000} seconds`)), msMax);
    thread.once("message", settle.resolve).once("error", settle.reject).once("exit", onExit);
    try {
      thread.postMessage(question);
      const found = await promise;
      thread.off("error", settle.reject).off("exit", onExit);
      giveBack(thread);
      resolve(found);
    } catch (error) {
      reject(error as Error);
      // The thread is not reused: it may still be working, and its answer would reach the wrong caller.
      await thread.terminate();
    } finally {
      clearTimeout(late);
    }
  }

  return {
    ask(question, msMax) {
      const { promise, resolve, reject } = Promise.withResolvers<Answer>();
      waiting.push({ question, msMax, resolve, reject });
      feed();
      return promise;
    },
  };
}
