import type { JobDiff } from "./job-diff.ts";

/** What the dashboard's routes answer about the pull requests of the local forge. */

export interface DashboardPullRow {
  projectId: string;
  number: number;
  title: string;
  state: "open" | "merged" | "closed";
  draft: boolean;
  headRef: string;
  baseRef: string;
  createdAt: string;
  updatedAt: string;
  comments: number;
}

export interface DashboardPull extends Omit<DashboardPullRow, "comments"> {
  /** Markdown. */
  body: string;
  checks: readonly { name: string; verdict: "passed" | "flagged"; detail: string }[];
  mergedBy: string | null;
  mergeCommit: string | null;
  /** What merging would come to; `head` is sent with the merge, so that nothing unread is merged. */
  mergeability:
    | { kind: "clean"; head: string }
    | { kind: "conflicts"; paths: readonly string[] }
    | { kind: "contained" }
    | { kind: "blocked"; reason: string };
  diff: JobDiff;
  cloneUrl: string;
  /** The job that opened it; null: somebody else did, or the job is gone. */
  jobId: string | null;
  comments: readonly DashboardComment[];
}

export interface DashboardComment {
  id: string;
  author: string;
  text: string;
  at: string;
}
