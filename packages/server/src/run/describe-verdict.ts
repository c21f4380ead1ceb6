import type { Verdict } from "../review/review.ts";

/** A verdict in figures, for those who watch a job. */
export function describeVerdict(verdict: Verdict): unknown {
  if (verdict.kind === "denied") return { verdict: "denied", violations: verdict.violations.slice(0, 20) };
  return {
    verdict: verdict.kind,
    introduced: verdict.introduced.length,
    fixed: verdict.fixed.length,
    before: verdict.findingsBefore,
    after: verdict.findingsAfter,
  };
}
