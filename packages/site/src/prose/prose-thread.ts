import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { threadEnv } from "../parse/threads.ts";
import type { ProsePage, ProseReport, ProseRules } from "./prose-worker.ts";

const pageMsMaxDefault = 10_000;

export interface ProseThread {
  /** If the page takes too long, returns the index of the rule that ran last, and restarts the thread. */
  judge(page: ProsePage): Promise<ProseReport[] | { slow: number }>;
  close(): Promise<void>;
}

/** Checks prose in its own thread: it is slow, and a project's patterns may run forever. */
export function openProseThread(
  rules: ProseRules,
  { pageMsMax = pageMsMaxDefault }: { pageMsMax?: number } = {},
): ProseThread {
  const running = new SharedArrayBuffer(4);
  let ready: Promise<Worker> | null = null;

  async function start(): Promise<Worker> {
    const options = { env: threadEnv(), name: "emend-prose", workerData: { rules, running } };
    const worker = new Worker(new URL("./prose-worker.ts", import.meta.url), options);
    // The thread reports when its rules and words are loaded. No time limit: a slow machine may need long.
    await once(worker, "message");
    return worker;
  }

  async function stop(): Promise<void> {
    const ended = ready;
    ready = null;
    await (await ended?.catch(() => null))?.terminate();
  }

  return {
    async judge(page) {
      ready ??= start();
      const worker = await ready;
      const { promise, resolve, reject } = Promise.withResolvers<ProseReport[] | { slow: number }>();
      const late = setTimeout(() => resolve({ slow: new Int32Array(running)[0] ?? 0 }), pageMsMax);
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.postMessage(page);
      try {
        const answer = await promise;
        if (!Array.isArray(answer)) await stop();
        return answer;
      } finally {
        clearTimeout(late);
        worker.off("message", resolve);
        worker.off("error", reject);
      }
    },
    close: stop,
  };
}
