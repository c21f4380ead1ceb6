import type { JobDiff, JobRun } from "@emend/contract";

/** The job in one sentence: "Opened #42 · 18 files · no new findings · $0.12". */
export function headlineOf(run: JobRun, diff: JobDiff | undefined): string {
  return [outcomeOf(run), filesOf(diff), findingsOf(run), costOf(run)].filter((part) => part !== "").join(" · ");
}

function outcomeOf(run: JobRun): string {
  const { pullRequest, status } = run;
  if (run.waiting) return "Waiting for the forge";
  if (status === "active")
    // The word for the phase stands before it.
    return {
      queued: "Waiting",
      preparing: "Fetching the repository",
      working: "Reading and writing the docs",
      checking: "Comparing the site with what it was",
      publishing: "Opening the pull request",
    }[run.phase];
  if (pullRequest) {
    const verbs = { open: pullRequest.draft ? "Opened draft" : "Opened", merged: "Merged", closed: "Closed" };
    return `${verbs[pullRequest.state]} #${pullRequest.number}`;
  }
  if (status === "failed") return "Not published";
  return run.preview ? "Preview only" : "No changes";
}

function filesOf(diff: JobDiff | undefined): string {
  const count = diff?.files.length ?? 0;
  if (count === 0) return "";
  return `${count} ${count === 1 ? "file" : "files"}`;
}

function findingsOf({ findings }: JobRun): string {
  if (!findings) return "";
  const fixed = findings.fixedCount > 0 ? `${findings.fixedCount} fixed` : "";
  const { introducedCount: count } = findings;
  const introduced = count === 1 ? "1 new finding" : `${count === 0 ? "no" : count} new findings`;
  const { unjudged = 0, total = 0 } = findings.links ?? {};
  const unread = unjudged > 0 ? `${unjudged} of ${total} links not checked` : "";
  return [introduced, fixed, unread].filter((part) => part !== "").join(", ");
}

function costOf({ usage }: JobRun): string {
  return usage.costUsd > 0 ? `$${usage.costUsd.toFixed(2)}` : "";
}
