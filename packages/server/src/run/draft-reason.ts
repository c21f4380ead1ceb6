import type { LimitCode, ReviewedChange } from "./run.ts";

const limitWords: Readonly<Record<LimitCode, string>> = {
  budget_exceeded: "The job reached its budget before it was finished. This is what it had done by then.",
  timeout: "The job reached its time limit before it was finished. This is what it had done by then.",
};

/** Why this is a draft, in words for its reader; undefined where it is none. */
export function draftReasonOf(
  change: ReviewedChange,
  /** What the job's request says, where it says something, and the project's setting. */
  wanted: { job: boolean | null; project: boolean },
): string | undefined {
  if (change.limitReached) return limitWords[change.limitReached];
  const disputes = change.verdict.introduced.filter((finding) => "dispute" in finding).length;
  if (disputes > 0) return "The agent disputes findings of the checks. Review both sides before merging.";
  if (change.verdict.kind === "flagged") return "The checks found errors that this change introduces.";
  if (wanted.job) return "The job asked for a draft.";
  return wanted.job === null && wanted.project ? "This project opens its pull requests as drafts." : undefined;
}
