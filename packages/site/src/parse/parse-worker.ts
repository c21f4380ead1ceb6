import { parentPort } from "node:worker_threads";
import type { Dialect } from "./dialect.ts";
import { scanPage } from "./scan-page.ts";

/** Files of a batch stand one behind the other in one buffer, which moves between threads without a copy. */
export interface ParseBatch {
  id: number;
  buffer: ArrayBuffer;
  ends: readonly number[];
  dialects: readonly Dialect[];
}

export interface ParsedBatch {
  id: number;
  /** JSON a file: it crosses threads faster than objects do, and is what caches keep. */
  facts: string[];
}

parentPort?.on("message", ({ id, buffer, ends, dialects }: ParseBatch) => {
  let start = 0;
  const facts = ends.map((end, i) => {
    const bytes = new Uint8Array(buffer, start, end - start);
    start = end;
    return JSON.stringify(scanPage(bytes, dialects[i] as Dialect));
  });
  parentPort?.postMessage({ id, facts } satisfies ParsedBatch);
});
