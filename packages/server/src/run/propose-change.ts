import type { FollowUp, Step } from "../agent/agent.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Verdict } from "../review/review.ts";
import { recordedChange } from "./recorded-change.ts";
import type { OpenTree, Outcome, ReviewedChange, Words } from "./run.ts";
import type { RunDeps } from "./run-job.ts";

export type Proposal =
  | { kind: "reviewed"; change: ReviewedChange; model: string }
  | Extract<Outcome, { kind: "unchanged" | "denied" }>;

/** The agent works, and the review judges; what they agree on is stored before anything is built from it. */
export async function proposeChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  said: { steps: readonly Step[]; followUps: readonly FollowUp[] },
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

  async function review(words: Words): Promise<Verdict> {
    isChecking = true;
    await recorder.setPhase("checking");
    crashPoint("before-review");
    const verdict = await stages.review(job, tree, words, signal);
    crashPoint("after-review");
    return verdict;
  }

  if (job.base !== null) await recorder.setPhase("working");
  const { outcome, verdict } = await stages.runAgent(job, { ...tree, ...said, saveStep, review }, signal);
  const limitReached = outcome.kind === "stopped" ? outcome.code : null;
  if (outcome.kind === "unchanged" || verdict === null) {
    return { kind: "unchanged", summary: outcome.summary, limitReached };
  }
  const { title, summary } = outcome;
  const recorded = await recordedChange(stages, job, tree, { title, summary, verdict, limitReached }, signal);
  crashPoint("before-change-stored");
  await recorder.saveChange(recorded);
  crashPoint("after-change-stored");
  if (verdict.kind === "denied") return { kind: "denied", violations: verdict.violations, limitReached };
  return { kind: "reviewed", change: { title, summary, verdict, limitReached }, model };
}
