import { Worker } from "node:worker_threads";
import type { Site } from "../site.ts";
import type { Finding } from "../types.ts";
import type { SyntaxProblem } from "./mdx-worker.ts";
import { createThreadPool, ThreadTimeout, threadEnv, threadLimits } from "./threads.ts";

const parsers = createThreadPool<Uint8Array, SyntaxProblem | null>(
  () =>
    new Worker(new URL("./mdx-worker.ts", import.meta.url), {
      env: threadEnv(),
      name: "emend-mdx",
      resourceLimits: { ...threadLimits, maxOldGenerationSizeMb: 256 },
    }),
);

/** Checks pages with the full MDX parser. It is slow, so use it only for changed pages or on request. */
export async function checkMdx(
  site: Site,
  paths: Iterable<string>,
  {
    signal,
    onProgress,
    pageMsMax = 10_000,
  }: { signal?: AbortSignal; onProgress?: (done: number) => void; pageMsMax?: number } = {},
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let done = 0;
  for (const path of paths) {
    signal?.throwIfAborted();
    onProgress?.(done++);
    const node = site.index.nodes.get(path);
    if (node === undefined || node.brief.unread || site.model.dialect(path).syntax !== "mdx") continue;
    const bytes = await site.tree.read(path);
    if (bytes === null) continue;
    const problem = await parsers.ask(bytes, pageMsMax).catch((error: unknown) => {
      const isLate = error instanceof ThreadTimeout;
      const message = isLate ? `parsing took longer than ${pageMsMax / 1000} seconds` : "parsing took too much memory";
      return { message, line: 1, column: 1 };
    });
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
  return findings;
}
