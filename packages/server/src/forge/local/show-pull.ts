import type { DashboardPull, JobDiff } from "@emend/contract";
import type { LocalComment } from "./comments.ts";
import { hideMarks } from "./hide-marks.ts";
import type { Mergeability } from "./mergeability.ts";
import type { DiffFile } from "./parse-diff-files.ts";
import type { PullState } from "./read-pull-view.ts";

/** A pull request as the dashboard shows it. */
export function showPull(
  { pullRequest, mergeability, diff }: PullState,
  more: { projectId: string; cloneUrl: string; comments: readonly LocalComment[] },
): Omit<DashboardPull, "jobId"> {
  const { number, title, state, draft, headRef, baseRef, checks, mergedBy, mergeCommit } = pullRequest;
  return {
    projectId: more.projectId,
    number,
    title,
    state,
    draft,
    headRef,
    baseRef,
    checks,
    mergedBy,
    mergeCommit,
    body: hideMarks(pullRequest.body),
    createdAt: pullRequest.createdAt.toISOString(),
    updatedAt: pullRequest.updatedAt.toISOString(),
    mergeability: showMergeability(mergeability),
    diff: { diff: diff.patch, files: diff.files.map(showFile) },
    cloneUrl: more.cloneUrl,
    comments: more.comments.map(({ id, author, body, createdAt }) => ({
      id,
      author,
      text: hideMarks(body),
      at: createdAt.toISOString(),
    })),
  };
}

function showMergeability(found: Mergeability): DashboardPull["mergeability"] {
  switch (found.kind) {
    case "clean":
      return { kind: "clean", head: found.head };
    case "contained":
      return { kind: "contained" };
    default:
      return found;
  }
}

function showFile({ path, status, added, deleted }: DiffFile): JobDiff["files"][number] {
  const change = status === "copied" ? "added" : status === "type" ? "modified" : status;
  return { path, change, additions: added ?? 0, deletions: deleted ?? 0 };
}
