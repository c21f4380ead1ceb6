import { Worker } from "node:worker_threads";
import type { RequestQuestion, RequestVerdict } from "./request-worker.ts";

/** Reads and judges what a program asks, away from the thread that keeps leases and answers everybody else. */
export interface RequestJudge {
  judge(question: RequestQuestion): Promise<RequestVerdict>;
  close(): Promise<void>;
}

export interface JudgeLimits {
  /** For one request. */
  judgeMsMax: number;
  judgeMemoryMb: number;
}

/** One thread a run, begun with its first request, and one request at a time: a program waits for itself alone. */
export function createRequestJudge({ judgeMsMax, judgeMemoryMb }: JudgeLimits): RequestJudge {
  let thread: Worker | null = null;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();

  function startThread(): Worker {
    // Nothing of the server's environment: a thread that reads a stranger's words needs none of it.
    const started = new Worker(new URL("./request-worker.ts", import.meta.url), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: judgeMemoryMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    });
    started.unref();
    // One that is out of memory may say so again once nobody asks it any more.
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
