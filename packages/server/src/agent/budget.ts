import type { AgentDeps, Limits, Step } from "./agent.ts";

export interface LimitReached {
  code: "budget_exceeded" | "timeout";
  reason: string;
}

/** The limit that the stored steps have reached, or null. Checked before every turn. */
export function limitReached(limits: Limits, steps: readonly Step[]): LimitReached | null {
  if (steps.length >= limits.stepsMax) {
    return { code: "budget_exceeded", reason: `the limit of ${limits.stepsMax} steps was reached` };
  }
  const tokens = sum(steps, (step) => step.usage.inputTokens + step.usage.outputTokens);
  if (tokens >= limits.tokensMax) {
    return { code: "budget_exceeded", reason: `the limit of ${limits.tokensMax} tokens was reached` };
  }
  const costUsd = sum(steps, (step) => step.usage.costUsd);
  // A free model may run with a limit of zero.
  if (costUsd >= limits.costUsdMax && costUsd > 0) {
    return { code: "budget_exceeded", reason: `the limit of $${limits.costUsdMax} was reached` };
  }
  return timeLeftMs(limits, steps) > 0 ? null : timeIsUp(limits);
}

/** What other jobs spend counts too: asked before every turn. A model that costs nothing goes on. */
export async function monthlyLimit(deps: Pick<AgentDeps, "model" | "spentBudget">): Promise<LimitReached | null> {
  const reason = deps.model.nature === "rules" ? null : await deps.spentBudget?.();
  return reason ? { code: "budget_exceeded", reason } : null;
}

/** In whole milliseconds, and no more than a timer can hold. */
export function timeLeftMs(limits: Limits, steps: readonly Step[]): number {
  const left = limits.wallTimeMsMax - sum(steps, (step) => step.usage.durationMs ?? 0);
  return Math.max(0, Math.min(Math.ceil(left), 2 ** 31 - 1));
}

export function timeIsUp(limits: Limits): LimitReached {
  return {
    code: "timeout",
    reason: `the time limit of ${Math.round(limits.wallTimeMsMax / 1000)} seconds was reached`,
  };
}

function sum(steps: readonly Step[], of: (step: Step) => number): number {
  return steps.reduce((total, step) => total + of(step), 0);
}
