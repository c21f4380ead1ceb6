import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import type { Part, Syntax } from "./page-parts.ts";

/** Shared by the jobs of a process. */
export interface PageReader {
  /** Null: a page that cannot be read in time. */
  read(text: string, syntax: Syntax): Promise<readonly Part[] | null>;
}

/** A larger page, or one that takes longer, is not read. */
const charactersMax = 2 ** 20;
/** More jobs seldom read a page at one moment; a thread holds some 30 MB. */
const idleMax = 2;
const idleMs = 60_000;
/** Of the texts whose reading is remembered: a job's pages are judged at each edit, at its end, and in its review. */
const rememberedCharactersMax = 2 ** 24;

/**
 * The parser in threads: it is slow, and a page may be made to keep it busy for ever. Threads with nothing to do are kept
 * for a while, because loading the parser takes far longer than reading a page with it; they never hold the process.
 */
export function createPageReader({ pageMsMax = 30_000, startThread = startPageThread } = {}): PageReader {
  const idle = new Map<Worker, NodeJS.Timeout>();
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
      // One that ends of itself while nobody asks it is no fault of the process.
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
    // Never given back: nobody knows what it still does, or what it would answer whom.
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
      // Another time there may be time enough.
      if (!known) void answer.then((parts) => parts === null && forget(key));
      return answer;
    },
  };
}

function startPageThread(): Worker {
  // Nothing of the server's environment: a thread that reads strangers' pages needs none of it.
  return new Worker(new URL("./page-worker.ts", import.meta.url), { env: {} });
}
