import type { Ending } from "../jobs/end-run.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Violation } from "../review/review.ts";
import type { Outcome } from "./run.ts";

const pathsShownMax = 5;

/** How a run that came to its end leaves the job. A limit fails the job, even where its work was kept as a draft. */
export function endingOf(outcome: Outcome): Ending {
  switch (outcome.kind) {
    case "unchanged":
      if (outcome.limitReached) return { kind: "failed", code: outcome.limitReached, message: outcome.summary };
      return { kind: "completed", summary: outcome.summary };
    case "denied":
      return {
        kind: "failed",
        code: outcome.limitReached ?? "policy_denied",
        message: deniedMessage(outcome.violations),
      };
    case "previewed":
    case "published": {
      const { limitReached, summary } = outcome.change;
      return limitReached ? { kind: "failed", code: limitReached, message: summary } : { kind: "completed", summary };
    }
    case "branch_conflict":
      return {
        kind: "failed",
        code: "branch_conflict",
        message:
          outcome.found === null
            ? `The branch ${outcome.branch} was deleted. Create a new job.`
            : `The branch ${outcome.branch} has a commit that Emend did not make. Emend did not change the branch. Create a new job.`,
      };
    default:
      return assertNever(outcome);
  }
}

function deniedMessage(violations: readonly Violation[]): string {
  const shown = violations.slice(0, pathsShownMax).map((violation) => `${violation.path} (${violation.rule})`);
  const more = violations.length - shown.length;
  return `The project's policy does not allow this change: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}
