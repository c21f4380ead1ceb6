import type { AgentOutcome, FollowUp, Step, Usage } from "../agent/agent.ts";
import type { LeasedJob, StoredSource } from "../jobs/run/leased-job.ts";
import type { TotalUsage } from "../publish/publication.ts";
import type { Verdict } from "../review/review.ts";
import { recordedChange } from "./recorder.ts";
import type { OpenTree, Outcome, ReviewedChange, RunDeps, Words } from "./run.ts";
import { followChanges } from "./step-changes.ts";

export type Proposal =
  | { kind: "reviewed"; change: ReviewedChange; model: string; usage: TotalUsage }
  | Extract<Outcome, { kind: "unchanged" | "denied" }>;

/** Runs the agent and the review in turns. The result is stored before anything is built from it. */
export async function proposeChange(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  said: { steps: readonly Step[]; followUps: readonly FollowUp[] },
  signal: AbortSignal,
): Promise<Proposal> {
  const { recorder, stages, crashPoint } = deps;
  const steps = [...said.steps];
  const changesOf = followChanges(tree, deps.log);
  let isChecking = false;

  async function saveStep(...[step, edits]: Parameters<typeof recorder.saveStep>): Promise<void> {
    // The agent got findings back and is working again.
    if (isChecking) await recorder.setPhase("working");
    isChecking = false;
    await recorder.saveStep(step, edits, await changesOf(edits, signal));
    steps.push(step);
  }

  async function review(words: Words): Promise<Verdict> {
    isChecking = true;
    await recorder.setPhase("checking");
    crashPoint("before-review");
    const verdict = await stages.review(job, tree, { ...words, contextText: readFromContext(steps) }, signal);
    crashPoint("after-review");
    return verdict;
  }

  if (job.base !== null) await recorder.setPhase("working");
  const { saveContext } = recorder;
  const work = { ...tree, ...said, saveStep, saveContext, review };
  const { outcome, verdict, sources: cited = [] } = await stages.runAgent(job, work, signal);
  const limitReached = outcome.kind === "stopped" ? outcome.code : null;
  if (outcome.kind === "unchanged" || verdict === null) {
    return { kind: "unchanged", summary: outcome.summary, limitReached };
  }
  const words = wordsOf(outcome, job);
  const sources = eachOnce([...job.sources, ...cited]);
  const recorded = await recordedChange(stages, job, tree, { ...words, verdict, limitReached, sources }, signal);
  crashPoint("before-change-stored");
  await recorder.saveChange(recorded);
  crashPoint("after-change-stored");
  if (verdict.kind === "denied") return { kind: "denied", violations: verdict.violations, limitReached };
  const refused = job.pullRequest === null ? await stages.findRefused?.(job, recorded.diff) : null;
  if (refused) {
    const why = `The same change was proposed in ${refused} and closed unmerged. Emend does not propose it again.`;
    return { kind: "unchanged", summary: why, limitReached };
  }
  const touching = job.pullRequest === null ? await stages.findTouching?.(job, recorded.diff, signal) : null;
  if (touching) {
    const why = `Pull request ${touching.url} already changes ${touching.path}. Emend does not open a second one.`;
    return { kind: "unchanged", summary: why, limitReached };
  }
  const model = steps.at(-1)?.usage.model ?? job.answeredBy;
  return { kind: "reviewed", change: { ...words, verdict, limitReached, sources }, model, usage: totalUsage(steps) };
}

function wordsOf(outcome: Exclude<AgentOutcome, { kind: "unchanged" }>, job: LeasedJob): Words {
  const { summary } = outcome;
  const { pullTitle, reply } = outcome.kind === "finished" ? outcome : {};
  // If no pull request was opened before, this round's title becomes the pull request's title.
  if (!job.continuesBranch) return { title: pullTitle ?? outcome.title, summary };
  const words = { title: outcome.title, summary, ...(pullTitle !== undefined && { pullTitle }) };
  return reply === undefined ? words : { ...words, reply };
}

/** Tool results from context repositories, whose paths start with `@`. */
function readFromContext(steps: readonly Step[]): readonly string[] {
  const messages = steps.flatMap((step) => step.messages);
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
  const asked = new Set(calls.filter(({ input }) => /"@\w/.test(JSON.stringify(input) ?? "")).map(({ id }) => id));
  return messages.flatMap((message) => (message.role === "tool" && asked.has(message.callId) ? [message.output] : []));
}

function eachOnce(sources: readonly StoredSource[]): readonly StoredSource[] {
  return [...new Map(sources.map((source) => [JSON.stringify(source), source])).values()];
}

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
