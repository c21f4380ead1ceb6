import type { DashboardPicture } from "./dashboard.ts";
import type { JobDiff } from "./job.ts";
import type { JobRun } from "./job-run.ts";

/** Responses about pull requests. */

/** A pull request of any forge. */
export interface DashboardPullRow {
  projectId: string;
  number: number;
  title: string;
  state: "open" | "merged" | "closed";
  draft: boolean;
  createdAt: string;
  /** Where it is on its forge. Null: hosted by Emend. */
  url: string | null;
  comments: number;
}

export interface DashboardPullPage {
  /** Newest first. */
  pulls: readonly DashboardPullRow[];
  nextCursor: string | null;
}

/** One of the local forge. */
export interface DashboardPull extends Omit<DashboardPullRow, "comments" | "url"> {
  headRef: string;
  baseRef: string;
  /** The commit that the diff leads to. Comments, edits and suggestions name it, so that nothing unread is changed. */
  headCommit: string;
  updatedAt: string;
  /** Markdown. */
  body: string;
  checks: readonly { name: string; verdict: "passed" | "flagged"; detail: string }[];
  mergedBy: string | null;
  mergeCommit: string | null;
  /** The result of merging. `head` is sent with the merge, so that nothing unread is merged. */
  mergeability:
    | { kind: "clean"; head: string }
    | { kind: "conflicts"; paths: readonly string[] }
    | { kind: "contained" }
    | { kind: "blocked"; reason: string };
  /** What all of it comes to. Only `review` and `ready` can be merged; `blocked` needs somebody to act first. */
  verdict: {
    kind: "merged" | "closed" | "contained" | "conflicts" | "blocked" | "draft" | "review" | "ready";
    /** What blocks it, or what to review. Can be empty. */
    words: string;
  };
  diff: JobDiff;
  /** How many changed files are not in it, because there are very many. */
  filesLeftOut: number;
  /** New findings of its change, on the lines of the new text: its job's or, of a person's, the status's. */
  findings: NonNullable<JobRun["findings"]>["introduced"];
  /** The statuses of its newest commit, each with a link. */
  statuses: readonly { name: string; state: GateState; words: string; url: string }[];
  /** What people say of the whole, and who was asked to. */
  reviews: readonly {
    /** An email address, or `console`. */
    reviewer: string;
    name: string;
    state: "requested" | "approved" | "changes_requested";
    /** It is about the newest commit. */
    isCurrent: boolean;
    /** Null: a reviewer of the project's settings, who has not said anything yet. */
    at: string | null;
  }[];
  /** How many approvals of the newest commit a merge needs. 0: none. */
  approvalsMin: number;
  /** Oldest first. Of very many, the newest. */
  commits: readonly { id: string; author: string; at: string; subject: string }[];
  /** The paths that the reader has viewed as they are now. */
  viewed: readonly string[];
  cloneUrl: string;
  /** The job that opened it. Null if somebody else did, or the job is gone. */
  jobId: string | null;
  /** Of its job's change, unless somebody has changed the branch since. */
  pictures: readonly DashboardPicture[];
  /**
   * Whether Emend can address the comments on lines. `needs_model`: they are free text, and the project has only the
   * built-in rules. Null: it has no job that takes messages, or is not open.
   */
  ask: "ready" | "working" | "needs_model" | null;
  comments: readonly DashboardComment[];
  /** Comments on lines, oldest first. */
  threads: readonly DashboardThread[];
}

/** A conversation about lines of a file. */
export interface DashboardThread {
  id: string;
  path: string;
  /** `before`: lines that the change removes. */
  side: "before" | "after";
  /** Where the lines are now; where they were, if they are outdated. */
  firstLine: number;
  lastLine: number;
  /** One of the lines changed since. */
  isOutdated: boolean;
  /** The head that its author saw. */
  headCommit: string;
  /** The lines as they were. */
  quoted: string;
  /** The text that should replace the lines. */
  suggestion: string | null;
  /** The commit that applied the suggestion. */
  appliedCommit: string | null;
  resolvedBy: string | null;
  comments: readonly DashboardComment[];
}

/** A file at the head of a pull request. */
export interface DashboardPullFile {
  text: string;
  head: string;
}

/** The result for a commit. `neutral`: it has findings that do not block. */
export type GateState = "pending" | "passed" | "neutral" | "failed";

export interface DashboardGateRow {
  id: string;
  /** The context repository's name. Empty: the docs repository. */
  repository: string;
  head: string;
  /** The name on the forge. */
  name: string;
  number: number;
  title: string;
  /** The pull request's URL. */
  url: string;
  state: GateState;
  words: string;
  /** Null if it was not checked yet. */
  judgedAt: string | null;
  updatedAt: string;
}

/** Emend's statuses on the pull requests of a project's repositories. */
export interface DashboardGates {
  /** Newest first. */
  statuses: readonly DashboardGateRow[];
  /** When each repository was last polled. `problem`: why it failed. */
  looks: readonly { repository: string; lookedAt: string; problem: string | null }[];
}

/** One status with all its findings. */
export interface DashboardGate extends DashboardGateRow {
  projectId: string;
  findings: readonly {
    check: string;
    severity: "error" | "warning" | "info";
    path: string;
    line: number;
    message: string;
    renamed?: { from: string; to: string };
    causes?: readonly string[];
    /** Of a claim: the page's text, and the lines of code that it relies on, before and now. */
    claim?: { text: string; source: string; was: string; now: string | null };
    /** Of a name that is gone: the same. */
    seen?: { text: string; source: string; was: string; now: string | null };
    /** The line of code on the forge. Absent: the forge shows no files. */
    sourceUrl?: string;
    /** Whether a job can fix this one. */
    canFix: boolean;
    /** What a model said. Absent: none was asked. */
    verdict?: { kind: "wrong docs" | "still right" | "cannot tell"; reason: string };
  }[];
  /** What a model was asked about this pull request, and the limits. Null: none was asked. */
  asked: { requests: number; costUsd: number; requestsMax: number; costUsdMax: number } | null;
  /** Why the forge does not show it. Null if it does. */
  refusal: string | null;
  /** The job that opens the docs' pull request. Null if nobody requested it. */
  jobId: string | null;
  /** The job's prompt, or why it cannot help. Null: there is nothing to fix. */
  fix: { prompt: string } | { cannot: string } | null;
}

export interface DashboardComment {
  id: string;
  author: string;
  text: string;
  at: string;
}
