import { createHash } from "node:crypto";
import { Worker } from "node:worker_threads";
import { compileCacheEnv, createThreadPool, type ThreadPool, threadLimits } from "@emend/site";
import type { Part } from "./parts.ts";
import type { Syntax } from "./syntax.ts";

/** Shared by all jobs of a process. */
export interface PageReader {
  /** Null if the page cannot be read in time. */
  read(text: string, syntax: Syntax): Promise<readonly Part[] | null>;
}

/** A page that is larger, or takes longer, is not read. */
const charactersMax = 2 ** 22;
/** Limits the cache of parsed pages. A job's pages are judged at each edit, at the end, and in review. */
const rememberedCharactersMax = 2 ** 24;

type PageThreads = ThreadPool<{ text: string; syntax: Syntax }, readonly Part[]>;
const shared: PageThreads = createThreadPool(
  // The threads parse untrusted pages, so they get no environment variables of this process.
  () =>
    new Worker(new URL("./page-worker.ts", import.meta.url), {
      env: compileCacheEnv(),
      name: "emend-pages",
      resourceLimits: threadLimits,
    }),
);

export function createPageReader({ pageMsMax = 30_000, threads = shared } = {}): PageReader {
  const remembered = new Map<string, { answer: Promise<readonly Part[] | null>; characters: number }>();
  let characters = 0;

  function forget(key: string): void {
    characters -= remembered.get(key)?.characters ?? 0;
    remembered.delete(key);
  }

  return {
    read(text, syntax) {
      if (text.length > charactersMax) return Promise.resolve(null);
      const key = createHash("sha256")
        .update(`${JSON.stringify(syntax)}\n${text}`)
        .digest("base64");
      const known = remembered.get(key);
      forget(key);
      const answer = known?.answer ?? threads.ask({ text, syntax }, pageMsMax).catch(() => null);
      remembered.set(key, { answer, characters: text.length });
      characters += text.length;
      for (const oldest of remembered.keys()) if (characters > rememberedCharactersMax) forget(oldest);
      // A timeout is not cached: the page may be read in time later.
      if (!known) void answer.then((parts) => parts === null && forget(key));
      return answer;
    },
  };
}
