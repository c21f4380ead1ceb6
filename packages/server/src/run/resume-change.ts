import type { Step } from "../agent/agent.ts";
import type { LeasedJob, StoredChange } from "../jobs/leased-job.ts";
import type { Proposal } from "./propose-change.ts";
import type { PassableVerdict } from "./run.ts";
import { totalUsage } from "./total-usage.ts";

/** A change that an earlier run stored with its commit: neither the model nor the review is asked again. */
export function resumeChange(job: LeasedJob, stored: StoredChange, steps: readonly Step[]): Proposal {
  return {
    kind: "reviewed",
    model: job.answeredBy,
    usage: totalUsage(steps),
    change: {
      title: stored.title,
      pullTitle: stored.pullTitle,
      summary: stored.summary,
      ...(stored.reply !== null && { reply: stored.reply }),
      // Only a verdict that lets a change pass is ever followed by a commit.
      verdict: stored.findings as PassableVerdict,
      limitReached: stored.limitReached,
      sources: job.sources,
    },
  };
}
