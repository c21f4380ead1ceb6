import type { AgentOutcome, Step } from "../agent/agent.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Verdict } from "../review/review.ts";
import { describeVerdict } from "./describe-verdict.ts";
import type { OpenTree, Outcome, ReviewedChange } from "./run.ts";
import type { RunDeps } from "./run-job.ts";

export type Proposal =
  | { kind: "reviewed"; change: ReviewedChange; model: string }
  | Extract<Outcome, { kind: "unchanged" | "denied" }>;

/** The agent works, and the review judges; what they agree on is stored before anything is built from it. */
export async function proposeChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  steps: readonly Step[],
  signal: AbortSignal,
): Promise<Proposal> {
  const { recorder, stages, crashPoint } = deps;
  let model = job.answeredBy;
  let isChecking = false;

  async function saveStep(...[step, edits]: Parameters<typeof recorder.saveStep>): Promise<void> {
    // Findings were given back: the agent is at work again.
    if (isChecking) await recorder.setPhase("working");
    isChecking = false;
    await recorder.saveStep(step, edits);
    model = step.usage.model;
  }

  async function review(): Promise<Verdict> {
    isChecking = true;
    await recorder.setPhase("checking");
    crashPoint("before-review");
    const verdict = await stages.review(job, tree, signal);
    crashPoint("after-review");
    return verdict;
  }

  if (job.base !== null) await recorder.setPhase("working");
  const { outcome, verdict } = await stages.runAgent(job, { ...tree, steps, saveStep, review }, signal);
  const limitReached = outcome.kind === "stopped" ? outcome.code : null;
  if (outcome.kind === "unchanged" || verdict === null) {
    return { kind: "unchanged", summary: outcome.summary, limitReached };
  }
  const { title, summary } = outcome;
  await saveChange(deps, job, tree, { outcome, verdict }, signal);
  if (verdict.kind === "denied") return { kind: "denied", violations: verdict.violations, limitReached };
  return { kind: "reviewed", change: { title, summary, verdict, limitReached }, model };
}

async function saveChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  found: { outcome: Exclude<AgentOutcome, { kind: "unchanged" }>; verdict: Verdict },
  signal: AbortSignal,
): Promise<void> {
  const { outcome, verdict } = found;
  const diff = await deps.stages.diff(job, tree, outcome, signal);
  deps.crashPoint("before-change-stored");
  await deps.recorder.saveChange({
    title: outcome.title,
    summary: outcome.summary,
    limitReached: outcome.kind === "stopped" ? outcome.code : null,
    findings: verdict,
    figures: describeVerdict(verdict),
    diff,
  });
  deps.crashPoint("after-change-stored");
}
