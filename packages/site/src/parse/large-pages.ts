import { Worker } from "node:worker_threads";
import type { CodeReference } from "../references/find-references.ts";
import type { Dialect, PageFacts } from "./dialect.ts";
import type { WorkerAnswer, WorkerSetup, WorkerTask } from "./parse-worker.ts";
import { emptyFacts } from "./scan-page.ts";
import { createThreadPool, threadEnv, threadLimits } from "./threads.ts";

/** Larger pages are read in a thread, because they would block the event loop. */
export const bytesInlineMax = 64 * 1024;
/** The readers take linear time, so no page comes near this. */
const pageMsMax = 60_000;

const readers = createThreadPool<{ id: number; task: WorkerTask }, WorkerAnswer>(
  () =>
    new Worker(new URL("./parse-worker.ts", import.meta.url), {
      workerData: { known: new Set() } satisfies WorkerSetup,
      env: threadEnv(),
      name: "emend-large-pages",
      resourceLimits: threadLimits,
    }),
);

/** A page that takes too much time or memory counts as too large. */
export async function factsOfLargePage(bytes: Uint8Array, dialect: Dialect): Promise<PageFacts> {
  const answer = await readers.ask({ id: 0, task: { kind: "facts", bytes, dialect } }, pageMsMax).catch(() => null);
  return answer === null ? { ...emptyFacts(), unread: "too large" } : (answer.value as PageFacts);
}

export async function referencesOfLargePage(
  path: string,
  bytes: Uint8Array,
  dialect: Dialect,
): Promise<CodeReference[]> {
  const task: WorkerTask = { kind: "references", path, bytes, dialect };
  const answer = await readers.ask({ id: 0, task }, pageMsMax).catch(() => null);
  return answer === null ? [] : (answer.value as CodeReference[]);
}
