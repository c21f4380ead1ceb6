import { Worker } from "node:worker_threads";
import type { MdxAnswer, SyntaxProblem } from "./mdx-worker.ts";
import { threadEnv } from "./thread-env.ts";

// The time limit for a page. After it, the thread is terminated.
const pageMsMaxDefault = 10_000;

export interface MdxParser {
  parse(bytes: Uint8Array): Promise<SyntaxProblem | null>;
  close(): Promise<void>;
}

/** Runs the full parser in its own thread: it is slow, and a malicious page may keep it busy forever. */
export function openMdxParser({ pageMsMax = pageMsMaxDefault }: { pageMsMax?: number } = {}): MdxParser {
  let worker: Worker | null = null;

  async function stop(): Promise<void> {
    const ended = worker;
    worker = null;
    await ended?.terminate();
  }

  function parse(bytes: Uint8Array): Promise<SyntaxProblem | null> {
    worker ??= new Worker(new URL("./mdx-worker.ts", import.meta.url), { env: threadEnv() });
    const current = worker;
    const { promise, resolve, reject } = Promise.withResolvers<SyntaxProblem | null>();
    const late = setTimeout(() => {
      resolve({ message: `parsing took longer than ${pageMsMax / 1000} seconds`, line: 1, column: 1 });
      void stop();
    }, pageMsMax);
    const onMessage = ({ problem }: MdxAnswer): void => resolve(problem);
    current.once("message", onMessage);
    current.once("error", reject);
    current.postMessage(bytes);
    return promise.finally(() => {
      clearTimeout(late);
      current.off("message", onMessage);
      current.off("error", reject);
    });
  }

  return { parse, close: stop };
}
