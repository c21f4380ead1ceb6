import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Part, Syntax } from "./page-parts.ts";

/** Shared by all jobs of a process. */
export interface PageReader {
  /** Null if the page cannot be read in time. */
  read(text: string, syntax: Syntax): Promise<readonly Part[] | null>;
}

/** A page that is larger, or takes longer, is not read. */
const charactersMax = 2 ** 20;
/** Jobs rarely read more pages than this at the same time. A thread uses about 30 MB. */
const idleMax = 2;
const idleMs = 60_000;
/** Limits the cache of parsed pages. A job's pages are judged at each edit, at the end, and in review. */
const rememberedCharactersMax = 2 ** 24;

type IdleThreads = Map<Worker, NodeJS.Timeout>;
/** Threads hold no state, so all readers of a process share them. */
const sharedIdle: IdleThreads = new Map();

/**
 * Runs the parser in worker threads: it is slow, and a hostile page may keep it busy forever. Idle threads are kept for
 * a while, because loading the parser takes far longer than parsing a page. They never keep the process alive.
 */
export function createPageReader({ pageMsMax = 30_000, startThread = startPageThread } = {}): PageReader {
  const idle: IdleThreads = startThread === startPageThread ? sharedIdle : new Map();
  const remembered = new Map<string, { answer: Promise<readonly Part[] | null>; characters: number }>();
  let characters = 0;

  function forget(key: string): void {
    characters -= remembered.get(key)?.characters ?? 0;
    remembered.delete(key);
  }

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
    if (idle.size >= idleMax) return void thread.terminate();
    thread.unref();
    idle.set(thread, setTimeout(() => void thread.terminate(), idleMs).unref());
  }

  function ask(text: string, syntax: Syntax): Promise<readonly Part[] | null> {
    const thread = takeThread();
    const { promise, resolve } = Promise.withResolvers<readonly Part[] | null>();
    // The thread is not reused: it may still be working, and its answer would reach the wrong caller.
    const giveUp = () => {
      resolve(null);
      void thread.terminate();
    };
    const late = setTimeout(giveUp, pageMsMax);
    const answer = (parts: readonly Part[]) => {
      thread.off("error", giveUp).off("exit", giveUp);
      giveBack(thread);
      resolve(parts);
    };
    thread.once("message", answer).once("error", giveUp).once("exit", giveUp);
    thread.postMessage({ text, syntax });
    return promise.finally(() => clearTimeout(late));
  }

  return {
    read(text, syntax) {
      if (text.length > charactersMax) return Promise.resolve(null);
      const key = createHash("sha256").update(`${syntax}\n${text}`).digest("base64");
      const known = remembered.get(key);
      forget(key);
      const answer = known?.answer ?? ask(text, syntax);
      remembered.set(key, { answer, characters: text.length });
      characters += text.length;
      for (const oldest of remembered.keys()) if (characters > rememberedCharactersMax) forget(oldest);
      // A timeout is not cached: the page may be read in time later.
      if (!known) void answer.then((parts) => parts === null && forget(key));
      return answer;
    },
  };
}

function startPageThread(): Worker {
  // The thread gets no environment variables: it parses untrusted pages and needs none.
  return new Worker(new URL("./page-worker.ts", import.meta.url), { env: {} });
}
