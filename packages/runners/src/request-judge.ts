import { Worker } from "node:worker_threads";
import type { RequestQuestion, RequestVerdict } from "./request-worker.ts";

/** Parses and judges a program's requests, off the main thread, which keeps leases and answers other requests. */
export interface RequestJudge {
  judge(question: RequestQuestion): Promise<RequestVerdict>;
  close(): Promise<void>;
}

export interface JudgeLimits {
  /** For one request. */
  judgeMsMax: number;
  judgeMemoryMb: number;
}

/** One thread per run, started with its first request, one request at a time: a program only delays itself. */
export function createRequestJudge({ judgeMsMax, judgeMemoryMb }: JudgeLimits): RequestJudge {
  let thread: Worker | null = null;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  function startThread(): Worker {
    // The thread gets no environment variables: it parses untrusted input and needs none.
    const started = new Worker(new URL("./request-worker.ts", import.meta.url), {
      env: {},
      name: "emend-requests",
      resourceLimits: { maxOldGenerationSizeMb: judgeMemoryMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    });
    started.unref();
    // A thread that is out of memory may report that again later.
    return started.on("error", () => undefined);
  }

  function ask(question: RequestQuestion): Promise<RequestVerdict> {
    if (isClosed) return Promise.resolve(tooMuch);
    thread ??= startThread();
    const asked = thread;
    return new Promise((resolve) => {
      const settle = (verdict: RequestVerdict) => {
        clearTimeout(timer);
        asked.off("message", settle).off("error", give).off("exit", give);
        resolve(verdict);
      };
      const give = () => {
        if (thread === asked) thread = null;
        settle(tooMuch);
        void asked.terminate();
      };
      const timer = setTimeout(give, judgeMsMax);
      asked.once("message", settle).once("error", give).once("exit", give);
      asked.postMessage(question);
    });
  }

  return {
    judge(question) {
      const verdict = last.then(() => ask(question));
      last = verdict;
      return verdict;
    },
    async close() {
      isClosed = true;
      await thread?.terminate();
    },
  };
}

const tooMuch: RequestVerdict = {
  kind: "refused",
  status: 413,
  words: "This request takes more time or memory to read than one may.",
};
