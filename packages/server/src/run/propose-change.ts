import type { AgentOutcome, FollowUp, Step } from "../agent/agent.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Verdict } from "../review/review.ts";
import { describeVerdict } from "./describe-verdict.ts";
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
  await saveChange(deps, job, tree, { outcome, verdict }, signal);
  if (verdict.kind === "denied") return { kind: "denied", violations: verdict.violations, limitReached };
  return { kind: "reviewed", change: { title, summary, verdict, limitReached }, model };
}

const withheld: Words = {
  title: "Withheld: the change held a secret",
  summary: "The change held what looks like a credential. Nothing of it was published, and its diff is not kept.",
};

async function saveChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  found: { outcome: Exclude<AgentOutcome, { kind: "unchanged" }>; verdict: Verdict },
  signal: AbortSignal,
): Promise<void> {
  const { outcome, verdict } = found;
  const holdsSecret = verdict.kind === "denied" && verdict.violations.some((violation) => violation.isSecret);
  // Neither a diff nor words with a credential in them are kept where people read.
  const words = holdsSecret ? withheld : { title: outcome.title, summary: outcome.summary };
  const diff = holdsSecret ? Buffer.alloc(0) : await deps.stages.diff(job, tree, words, signal);
  deps.crashPoint("before-change-stored");
  await deps.recorder.saveChange({
    ...words,
    limitReached: outcome.kind === "stopped" ? outcome.code : null,
    findings: verdict,
    figures: describeVerdict(verdict),
    diff,
  });
  deps.crashPoint("after-change-stored");
}
