import { Worker } from "node:worker_threads";
import { threadEnv } from "../parse/thread-env.ts";
import type { ProsePage, ProseReport, ProseRules } from "./prose-worker.ts";

const pageMsMaxDefault = 10_000;

export interface ProseThread {
  /** Null where the page took too long. */
  judge(page: ProsePage): Promise<ProseReport[] | null>;
  close(): Promise<void>;
}

/** Reads pages word by word in a thread of its own: that is slow, and a project's patterns may be made to run for ever. */
export function openProseThread(
  rules: ProseRules,
  { pageMsMax = pageMsMaxDefault }: { pageMsMax?: number } = {},
): ProseThread {
  let worker: Worker | null = null;

  async function stop(): Promise<void> {
    const ended = worker;
    worker = null;
    await ended?.terminate();
  }

  return {
    async judge(page) {
      worker ??= new Worker(new URL("./prose-worker.ts", import.meta.url), { env: threadEnv(), workerData: rules });
      const current = worker;
      const { promise, resolve, reject } = Promise.withResolvers<ProseReport[] | null>();
      const late = setTimeout(() => resolve(null), pageMsMax);
      current.once("message", resolve);
      current.once("error", reject);
      current.postMessage(page);
      try {
        const answer = await promise;
        if (answer === null) await stop();
        return answer;
      } finally {
        clearTimeout(late);
        current.off("message", resolve);
        current.off("error", reject);
      }
    },
    close: stop,
  };
}
