import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { threadEnv } from "../parse/thread-env.ts";
import type { ProsePage, ProseReport, ProseRules } from "./prose-worker.ts";

const pageMsMaxDefault = 10_000;

export interface ProseThread {
  /** Where the page takes too long: the number of the rule that ran last, and the thread begins anew. */
  judge(page: ProsePage): Promise<ProseReport[] | { slow: number }>;
  close(): Promise<void>;
}

/** Reads pages word by word in a thread of its own: that is slow, and a project's patterns may be made to run for ever. */
export function openProseThread(
  rules: ProseRules,
  { pageMsMax = pageMsMaxDefault }: { pageMsMax?: number } = {},
): ProseThread {
  const running = new SharedArrayBuffer(4);
  let ready: Promise<Worker> | null = null;

  async function start(): Promise<Worker> {
    const options = { env: threadEnv(), workerData: { rules, running } };
    const worker = new Worker(new URL("./prose-worker.ts", import.meta.url), options);
    // It says so once its rules and words are read: that takes as long as the machine needs.
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
