import type { LimitCode, ReviewedChange } from "./run.ts";

const limitWords: Readonly<Record<LimitCode, string>> = {
  budget_exceeded: "The job reached its budget before it was finished. This is what it had done by then.",
  timeout: "The job reached its time limit before it was finished. This is what it had done by then.",
};

/** Why a person must look before this is merged; undefined where nothing says so. */
export function draftReasonOf(change: ReviewedChange): string | undefined {
  if (change.limitReached) return limitWords[change.limitReached];
  if (change.verdict.kind === "flagged") return "The checks found errors that this change introduces.";
  return undefined;
}
