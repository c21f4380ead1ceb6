import type { Worker } from "node:worker_threads";
import { type PageReading, syntaxOf } from "./page-reading.ts";
import { type PageThreads, unkeptThreads } from "./page-threads.ts";
import type { PageQuestion } from "./page-worker.ts";

export interface PageReader {
  /** Null: no page, or one that cannot be read in time. */
  read(path: string, text: string, options?: { isMdxSite: boolean }): Promise<PageReading | null>;
  close(): Promise<void>;
}

/** A larger page, or one that takes longer, is not read. */
const charactersMax = 2 ** 20;
const pageMsMaxDefault = 30_000;

/** The parser in a thread of its own: it is slow, and a page may be made to keep it busy for ever. */
export function openPageReader(
  threads: PageThreads = unkeptThreads,
  { pageMsMax = pageMsMaxDefault }: { pageMsMax?: number } = {},
): PageReader {
  let thread: Worker | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function ask(question: PageQuestion): Promise<PageReading | null> {
    thread ??= threads.take();
    const current = thread;
    const { promise, resolve } = Promise.withResolvers<PageReading | null>();
    // Never given back: nobody knows what it still does, or what it would answer whom.
    const giveUp = () => {
      thread = null;
      resolve(null);
      void current.terminate();
    };
    const late = setTimeout(giveUp, pageMsMax);
    current.once("message", resolve);
    current.once("error", giveUp);
    current.postMessage(question);
    return promise.finally(() => {
      clearTimeout(late);
      current.off("message", resolve);
      current.off("error", giveUp);
    });
  }

  return {
    read(path, text, { isMdxSite } = { isMdxSite: false }) {
      const syntax = syntaxOf(path, isMdxSite);
      if (syntax === null || text.length > charactersMax) return Promise.resolve(null);
      // One after the other: answers carry no name.
      const answer = last.then(() => ask({ text, syntax }));
      last = answer;
      return answer;
    },
    async close() {
      await last;
      if (thread) threads.giveBack(thread);
      thread = null;
    },
  };
}
