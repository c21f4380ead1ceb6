import type { Finding } from "@emend/site";
import type { AgentDeps, AgentOutcome, AgentTask, Step } from "./agent.ts";
import { runAgent } from "./loop.ts";

const roundsMax = 2;

/** What a review says, as far as the agent is told. */
type ReviewAnswer =
  | { kind: "passed" | "flagged"; introduced: readonly Finding[] }
  | { kind: "denied"; violations: readonly { path: string; rule: string }[] };

export interface ReviewedAgentDeps<Verdict extends ReviewAnswer> extends AgentDeps {
  /** `words`: what the pull request would say. */
  review(words: { title: string; summary: string }, signal: AbortSignal): Promise<Verdict>;
}

/**
 * Runs the agent, reviews what it did and gives the findings back, two rounds at most. The rounds are counted in the
 * stored steps, so a run on another node neither repeats nor adds one. Nothing changed: no verdict.
 */
export async function runAgentWithReview<Verdict extends ReviewAnswer>(
  deps: ReviewedAgentDeps<Verdict>,
  task: AgentTask,
  signal: AbortSignal,
): Promise<{ outcome: AgentOutcome; verdict: Verdict | null }> {
  const steps = [...task.steps];
  const saveStep: AgentDeps["saveStep"] = async (step, edits) => {
    await deps.saveStep(step, edits);
    steps.push(step);
  };
  let feedback: readonly Finding[] = [];
  for (;;) {
    const outcome = await runAgent({ ...deps, saveStep }, { ...task, steps: [...steps], feedback }, signal);
    if (outcome.kind === "unchanged" || task.overlay.entries().length === 0) return { outcome, verdict: null };
    const verdict = await deps.review({ title: outcome.title, summary: outcome.summary }, signal);
    feedback = findingsOf(verdict);
    const isLast = deps.model.nature === "rules" || outcome.kind === "stopped" || roundsIn(steps) >= roundsMax;
    if (verdict.kind === "passed" || feedback.length === 0 || isLast) return { outcome, verdict };
  }
}

function roundsIn(steps: readonly Step[]): number {
  return steps.filter((step) => step.messages.some((said) => said.role === "user" && said.from === "review")).length;
}

function findingsOf(verdict: ReviewAnswer): readonly Finding[] {
  if (verdict.kind !== "denied") return verdict.introduced;
  return verdict.violations.map(({ path, rule }) => ({
    check: "policy",
    severity: "error",
    path: path || "the change",
    line: 1,
    column: 1,
    message: rule,
  }));
}
