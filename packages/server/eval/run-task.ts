import { compareSites, openSite } from "@emend/site";
import type { Limits, Model, Step } from "../src/agent/agent.ts";
import { runAgentWithReview } from "../src/agent/run-agent-with-review.ts";
import { isAppError } from "../src/errors.ts";
import { createPageThreads } from "../src/review/page-threads.ts";
import { refusedBy } from "../src/review/policy.ts";
import type { Policy } from "../src/review/review.ts";
import { reviewChange } from "../src/review/review-change.ts";
import { createVetting } from "../src/review/vet-words.ts";
import { createOverlay } from "../src/tree/overlay.ts";
import { siteTreeOf } from "../src/tree/site-tree.ts";
import type { CommitTree } from "../src/tree/tree.ts";
import type { EvalTask } from "./task.ts";

export interface EvalResult {
  problems: readonly string[];
  turns: number;
  tokens: number;
  costUsd: number;
  ms: number;
}

const limits: Limits = {
  stepsMax: 40,
  tokensMax: 1_000_000,
  costUsdMax: 1,
  wallTimeMsMax: 600_000,
  toolOutputBytesMax: 32_768,
};
const policy: Policy = { docsDir: "", allowedPaths: [], filesMax: 1000, bytesMax: 1_000_000 };

/** Lets a model work on a task with the agent's own loop, tools and review, and judges the graph that comes out. */
export async function runTask(
  model: Model,
  task: EvalTask,
  { base, context }: { base: CommitTree; context: ReadonlyMap<string, CommitTree> },
  signal: AbortSignal,
): Promise<EvalResult> {
  const overlay = await createOverlay(base, []);
  const siteCache = new Map<string, string>();
  const pageThreads = createPageThreads();
  const steps: Step[] = [];
  const startedAt = performance.now();
  const deps = {
    model,
    limits,
    siteCache,
    refusePath: (path: string) => refusedBy(policy, path),
    vetting: createVetting(base, { allowed: [], asked: [task.prompt] }, { pageThreads }),
    saveStep: async (step: Step) => void steps.push(step),
    review: (words: { title: string; summary: string }) =>
      reviewChange({ base, overlay, policy, siteCache, pageThreads, asked: [task.prompt], ...words }, signal),
  };
  const trees = { names: [...context.keys()], open: async (name: string) => context.get(name) as CommitTree };
  const { outcome, verdict } = await runAgentWithReview(
    deps,
    { jobId: "job_eval", prompt: task.prompt, docsDir: "", base, overlay, context: trees, steps: [] },
    signal,
  ).catch((error: unknown) => {
    if (!isAppError(error, "instruction_not_understood")) throw error;
    return { outcome: null, verdict: null };
  });
  const sum = (of: (step: Step) => number) => steps.reduce((total, step) => total + of(step), 0);
  const before = await openSite(siteTreeOf(base), { cache: siteCache, signal });
  const after = await openSite(siteTreeOf(overlay), { cache: siteCache, signal });
  const comparison = await compareSites(before, after);
  const done = {
    before,
    after,
    changed: overlay.entries().map((entry) => entry.path),
    read: async (path: string) => (await overlay.read(path))?.toString() ?? null,
    introduced: comparison.introduced.map(({ path, line, message }) => `${path}:${line} ${message}`),
    summary: outcome?.summary ?? null,
    sources: outcome?.kind === "finished" ? (outcome.sources ?? []) : [],
  };
  const denied = verdict?.kind === "denied" ? [`policy denies it: ${verdict.violations[0]?.rule}`] : [];
  return {
    problems: [...denied, ...(await task.verify(done))],
    turns: steps.length,
    tokens: sum(({ usage }) => usage.inputTokens + usage.outputTokens),
    costUsd: sum(({ usage }) => usage.costUsd),
    ms: performance.now() - startedAt,
  };
}
