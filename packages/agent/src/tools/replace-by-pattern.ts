import { Worker } from "node:worker_threads";
import { compileCacheEnv, createThreadPool, threadLimits } from "@emend/site";

export interface PatternQuestion {
  files: readonly { path: string; text: string }[];
  pattern: string;
  by: string;
}

export interface PatternAnswer {
  files: readonly { path: string; text: string; count: number }[];
  /** The first matches, before and after. */
  samples: readonly (readonly [string, string])[];
}

// A model's pattern may take forever on some text, so it never runs on the event loop.
const threads = createThreadPool<PatternQuestion, PatternAnswer>(
  () =>
    new Worker(new URL("./pattern-worker.ts", import.meta.url), {
      env: compileCacheEnv(),
      name: "emend-patterns",
      resourceLimits: { ...threadLimits, maxOldGenerationSizeMb: 256 },
    }),
  { threadsMax: 1 },
);

/** The files that a pattern changes, with the number of places in each. */
export async function replaceByPattern(
  files: PatternQuestion["files"],
  { oldText, newText }: { oldText: string; newText: string },
  msMax: number,
): Promise<({ kind: "replaced" } & PatternAnswer) | { kind: "refused"; reason: string }> {
  try {
    new RegExp(oldText, "gm");
  } catch (error) {
    return { kind: "refused", reason: `oldText is no pattern: ${error instanceof Error ? error.message : ""}` };
  }
  const answer = await threads.ask({ files, pattern: oldText, by: newText }, msMax).catch(() => null);
  if (answer === null) return { kind: "refused", reason: "the pattern takes too long; write a simpler one" };
  return { kind: "replaced", ...answer };
}
