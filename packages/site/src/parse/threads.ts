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
  /**
   * Throws `ThreadTimeout` if there is no answer in time: `msMax` of the thread's own processor time, because a busy machine
   * must not make a page unreadable, or a few times as long by the clock. It starts when a thread takes the question.
   */
  ask(question: Question, msMax: number): Promise<Answer>;
}

export class ThreadTimeout extends Error {}

const idleMs = 60_000;
const clockFactorMax = 4;
/** How long a thread may take to tell its processor time. */
const tellMsMax = 2_000;

/** In milliseconds. Null: this Node cannot tell (before 24.6), or the thread does not. */
async function processorMs(thread: Worker): Promise<number | null> {
  if (!("cpuUsage" in thread)) return null;
  const silence = new Promise<null>((resolve) => setTimeout(resolve, tellMsMax, null).unref());
  const used = await Promise.race([thread.cpuUsage().catch(() => null), silence]);
  return used && (used.user + used.system) / 1000;
}

/**
 * Calls `onLate` once the thread has used `msMax` of processor time, or a few times as long by the clock. Returns what stops
 * the watch.
 */
export function watchTime(thread: Worker, msMax: number, onLate: () => void): () => void {
  const startedAt = performance.now();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const before = processorMs(thread);
  const look = async () => {
    const [first, now] = [await before, await processorMs(thread)];
    if (isOver) return;
    const leftMs = first === null || now === null ? 0 : msMax - (now - first);
    const leftByClockMs = msMax * clockFactorMax - (performance.now() - startedAt);
    if (Math.min(leftMs, leftByClockMs) <= 0) onLate();
    else timer = setTimeout(look, Math.min(leftMs, leftByClockMs) + 1);
  };
  timer = setTimeout(look, msMax);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
/** Of all pools of a process together: each thread takes 30 MB, and with a hostile page far more. */
const threadsInAllMax = 3;
/** After so many questions, a pool's thread makes room for a kind that waits. */
const turnMax = 20;
/** The threads of all pools. An idle one has a function that ends it. */
const all = new Map<Worker, (() => void) | null>();
/** Pools that have questions and no thread, the one that waits longest first. */
const blocked = new Set<() => void>();

/** Whether one more thread may start. If not, the longest idle one ends, and its place is free when it has ended. */
function hasPlace(): boolean {
  if (all.size < threadsInAllMax) return true;
  [...all.values()].find((end) => end !== null)?.();
  return false;
}

function wakeBlocked(): void {
  for (const feed of [...blocked]) feed();
}

interface Waiting<Question, Answer> {
  question: Question;
  msMax: number;
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/**
 * Runs slow parsers in worker threads: a hostile page may keep one busy forever. There are at most `threadsMax` of a
 * kind, and a few of all kinds together; further questions wait. Idle threads are kept for a while, because loading a
 * parser takes far longer than parsing a page, unless another kind needs the place. They never keep the process alive.
 */
export function createThreadPool<Question, Answer>(
  startThread: () => Worker,
  { threadsMax = 2 } = {},
): ThreadPool<Question, Answer> {
  const idle = new Map<Worker, NodeJS.Timeout>();
  const waiting: Waiting<Question, Answer>[] = [];
  let [busy, answered] = [0, 0];

  /** Null if all places are taken. */
  function takeThread(): Worker | null {
    const [kept] = idle.keys();
    if (!kept) {
      if (!hasPlace()) return null;
      const thread = startThread();
      all.set(thread, null);
      // An idle thread that ends is not an error of the process.
      thread.on("error", () => undefined);
      return thread.on("exit", () => {
        idle.delete(thread);
        all.delete(thread);
        wakeBlocked();
      });
    }
    clearTimeout(idle.get(kept));
    idle.delete(kept);
    all.set(kept, null);
    kept.ref();
    return kept;
  }

  function giveBack(thread: Worker): void {
    const end = () => {
      clearTimeout(idle.get(thread));
      idle.delete(thread);
      all.set(thread, null);
      void thread.terminate();
    };
    thread.unref();
    idle.set(thread, setTimeout(end, idleMs).unref());
    // Behind the others, so that the first that can end is the one that was idle longest.
    all.delete(thread);
    all.set(thread, end);
  }

  function feed(): void {
    blocked.delete(feed);
    while (busy < threadsMax && waiting.length > 0) {
      const thread = takeThread();
      const next = thread && waiting.shift();
      if (!next) return void blocked.add(feed);
      busy += 1;
      void answer(thread, next).then(() => {
        busy -= 1;
        answered += 1;
        // Now and then the other kinds come first. Always would be slow: a thread starts for each turn.
        if (answered % turnMax === 0) wakeBlocked();
        feed();
        wakeBlocked();
      });
    }
  }

  /** Resolves when the thread is free again, or gone. */
  async function answer(
    thread: Worker,
    { question, msMax, resolve, reject }: Waiting<Question, Answer>,
  ): Promise<void> {
    const { promise, ...settle } = Promise.withResolvers<Answer>();
    const onExit = () => settle.reject(new Error("the thread ended before it answered"));
    const onLate = () => settle.reject(new ThreadTimeout(`no answer in ${msMax / 1000} seconds`));
    const stopWatch = watchTime(thread, msMax, onLate);
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
      stopWatch();
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
