import type { Step, Usage } from "../agent/agent.ts";
import type { TotalUsage } from "../publish/publication.ts";

/** The usage of all steps of a job, across runs and rounds. */
export function totalUsage(steps: readonly Step[]): TotalUsage {
  const sum = (of: (usage: Usage) => number) => steps.reduce((total, { usage }) => total + of(usage), 0);
  return {
    steps: steps.length,
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    cachedInputTokens: sum((usage) => usage.cachedInputTokens),
    costUsd: sum((usage) => usage.costUsd),
  };
}
