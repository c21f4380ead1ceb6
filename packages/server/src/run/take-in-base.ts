import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { RecordedMove } from "../jobs/run/record-change.ts";
import { assertNever } from "../lib/assert-never.ts";
import { recordedChange } from "./recorder.ts";
import type { OpenTree, Outcome, ReviewedChange, RunDeps } from "./run.ts";

/** A change, and the base that it will be published on. */
export interface SettledChange {
  kind: "settled";
  tree: OpenTree;
  change: ReviewedChange;
  /** Stored with the commit. Null if the base did not move. */
  move: RecordedMove | null;
  baseConflict: readonly string[];
}

/**
 * The base branch may have moved on while the agent worked. If its changes merge with the job's, the job continues on
 * the new base and is reviewed again there. Otherwise it stays on its own base, and the pull request says so.
 */
export async function takeInBase(
  deps: RunDeps,
  job: LeasedJob,
  tree: OpenTree,
  change: ReviewedChange,
  signal: AbortSignal,
): Promise<SettledChange | Extract<Outcome, { kind: "unchanged" | "denied" }>> {
  const { stages, recorder, crashPoint } = deps;
  const baseConflict = job.change === null ? [] : job.baseConflict;
  const asItIs = { kind: "settled", tree, change, move: null, baseConflict } as const;
  // A stored commit is published unchanged.
  if (job.change !== null) return asItIs;

  crashPoint("before-base-taken-in");
  const moved = await stages.takeInBase(job, tree, change, signal);
  crashPoint("after-base-taken-in");
  const branch = tree.baseBranch;
  switch (moved.kind) {
    case "unmoved":
      return asItIs;
    case "conflict": {
      const { commit, paths } = moved;
      return { ...asItIs, move: { kind: "conflict", base: { commit, branch }, paths }, baseConflict: paths };
    }
    case "merged":
      break;
    default:
      return assertNever(moved);
  }
  const { limitReached } = change;
  const edits = moved.tree.overlay.entries();
  if (edits.length === 0) {
    return {
      kind: "unchanged",
      summary: `${branch} already contains these changes, so there is nothing to publish.`,
      limitReached,
    };
  }
  const verdict = await stages.review(job, moved.tree, change, signal);
  const judged = { ...change, verdict };
  const recorded = await recordedChange(stages, job, moved.tree, judged, signal);
  if (verdict.kind === "denied") {
    await recorder.saveChange(recorded);
    return { kind: "denied", violations: verdict.violations, limitReached };
  }
  const base = { commit: moved.tree.base.commit, branch };
  return {
    kind: "settled",
    tree: moved.tree,
    change: { ...change, verdict },
    move: { kind: "merged", base, edits, change: recorded },
    baseConflict: [],
  };
}
