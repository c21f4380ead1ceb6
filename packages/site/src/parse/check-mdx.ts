import { Worker } from "node:worker_threads";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import type { MdxAnswer, SyntaxProblem } from "./mdx-worker.ts";
import { threadEnv } from "./parse-pool.ts";

/** Checks pages with the full MDX parser. It is slow, so use it only for changed pages or on request. */
export async function checkMdx(
  site: Site,
  paths: Iterable<string>,
  {
    signal,
    onProgress,
    parser,
  }: { signal?: AbortSignal; onProgress?: (done: number) => void; parser?: MdxParser } = {},
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let done = 0;
  const used = parser ?? openMdxParser();
  try {
    for (const path of paths) {
      signal?.throwIfAborted();
      onProgress?.(done++);
      const node = site.index.nodes.get(path);
      if (node === undefined || node.brief.unread || site.model.dialect(path).syntax !== "mdx") continue;
      const bytes = await site.tree.read(path);
      if (bytes === null) continue;
      const problem = await used.parse(bytes);
      if (problem === null) continue;
      const { line, column, message } = problem;
      findings.push({
        check: "mdx-syntax",
        severity: "error",
        path,
        line,
        column,
        message: `MDX cannot be parsed: ${message}`,
      });
    }
  } finally {
    if (parser === undefined) await used.close();
  }
  return findings;
}

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
