import type { JobStatus } from "./agent-job.ts";
import type { MemberRole } from "./dashboard-accounts.ts";
import type { FailureCode, JobPhase } from "./errors.ts";
import type { JobDiff } from "./job-diff.ts";
import type { JobRun } from "./job-run.ts";

/** What the dashboard's own routes answer; for browser sessions, and free to change with the dashboard. */

export interface DashboardSession {
  /** The person's e-mail address, or `console` where a link of the console opened the session. */
  subject: string;
  role: MemberRole;
  /** Null: the console's. */
  name: string | null;
  hasPassword: boolean;
  /** Where clients reach this installation, without a trailing slash. */
  publicUrl: string;
  /** How its commands are typed where it runs: `emend`, or in a checkout `npx emend`. */
  command: string;
  /** Told to owners, where commands would not find it by themselves. */
  dataDir: string | null;
}

export interface DashboardKey {
  id: string;
  /** The first characters, to recognise it by. */
  hint: string;
  name: string;
  projectIds: readonly string[];
  scope: "read" | "write";
  /** Null: never. */
  expiresAt: string | null;
  /** Null: every address. */
  allowList: readonly string[] | null;
  createdBy: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface DashboardJobRow {
  id: string;
  projectId: string;
  status: JobStatus;
  phase: JobPhase;
  title: string | null;
  /** Its beginning. */
  prompt: string;
  model: string;
  failureCode: FailureCode | null;
  figures: { files: number; additions: number; deletions: number } | null;
  pullRequest: JobRun["pullRequest"];
  createdAt: string;
  endedAt: string | null;
}

export interface DashboardJobPage {
  /** Newest first. */
  jobs: readonly DashboardJobRow[];
  /** Null: there are no more. */
  nextCursor: string | null;
}

export interface DashboardJob {
  projectId: string;
  run: JobRun;
  /** What was asked beyond the prompt, to ask the same again. */
  options: { baseRef?: string; model?: string; draft?: boolean; maxCostUsd?: number; preview?: boolean };
  /** What was asked after the first prompt. */
  messages: readonly { number: number; prompt: string; createdBy: string; at: string }[];
}

/** One step of a run, with what its tools answered. Texts are shortened. */
export interface DashboardStep {
  text: string;
  tools: readonly { name: string; input: string; output: string | null; isError: boolean }[];
}

/** A page as a change leaves it. */
export interface DashboardFile {
  text: string;
}

/** How the rules read an instruction. Nothing is run. */
export type DashboardReading =
  /** A language model reads it. */
  | { kind: "free" }
  | { kind: "understood"; orders: readonly string[] }
  /** `examples`: the nearest that are understood. */
  | { kind: "not_understood"; clause: string; reason: string; examples: readonly string[] };

/** A job that somebody might want to run. */
export interface DashboardSuggestion {
  prompt: string;
  /** Why, in a few words. */
  because: string;
  /** The rules would change nothing: what was found has no certain fix. */
  isVain?: true;
}

/** How the installation is, for its operator. */
export interface DashboardStatus {
  version: string;
  nodes: readonly {
    id: string;
    host: string;
    role: string;
    version: string;
    startedAt: string;
    /** Its last sign of life. */
    seenAt: string;
    isAlive: boolean;
  }[];
  queue: { waiting: number; running: number; oldestSeconds: number };
  /** Webhook messages that wait to be sent. */
  deliveriesDue: number;
  /** The default model, then its fallbacks. `url` null: it runs in Emend itself. `problem` null: it is reached. */
  models: readonly { name: string; url: string | null; problem: string | null }[];
  forges: readonly { forge: string; url: string; projects: number; problem: string | null }[];
  database: { bytes: number; version: string };
  lastBackupAt: string | null;
}

/** What the checks found on a project's site, now and over time. */
export interface DashboardHealth {
  /** Oldest first. */
  checks: readonly DashboardSiteCheck[];
  /** Of the newest: worst first, a bounded part of them. */
  findings: readonly DashboardSiteFinding[];
  /** Why the last look failed; null: it did not. */
  problem: { at: string; words: string } | null;
  /** Jobs that would mend what was found. */
  fixes: readonly DashboardSuggestion[];
}

export interface DashboardSiteCheck {
  checkedAt: string;
  commit: string;
  branch: string;
  framework: string;
  pages: number;
  counts: readonly { check: string; severity: "error" | "warning" | "info"; count: number; fixable: number }[];
}

export interface DashboardSiteFinding {
  check: string;
  severity: "error" | "warning" | "info";
  path: string;
  line: number;
  message: string;
}

/** What jobs did and used, of those created in the last days. */
export interface DashboardUsage {
  days: number;
  total: DashboardUsageFigures;
  /** Every day, oldest first, those without a job too. */
  byDay: readonly (DashboardUsageFigures & { day: string })[];
  /** Most jobs first. */
  byProject: readonly (DashboardUsageFigures & { projectId: string; project: string })[];
  byModel: readonly (DashboardUsageFigures & { model: string })[];
}

export interface DashboardUsageFigures {
  jobs: number;
  /** Ended without a failure, archived since or not. */
  completed: number;
  failed: number;
  pullRequests: number;
  merged: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  /** From creation to end, of those that ended and were not asked for more; null: none did. */
  medianMs: number | null;
}

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
  /** What was said of its newest commit, each with a page that says more. */
  statuses: readonly { name: string; state: GateState; words: string; url: string }[];
  cloneUrl: string;
  /** The job that opened it; null: somebody else did, or the job is gone. */
  jobId: string | null;
  comments: readonly DashboardComment[];
}

/** How Emend, or somebody else, judged a commit. `neutral`: it found something that does not block. */
export type GateState = "pending" | "passed" | "neutral" | "failed";

export interface DashboardGateRow {
  id: string;
  /** The context repository's name; empty: the docs repository. */
  repository: string;
  head: string;
  /** As the forge shows it. */
  name: string;
  number: number;
  title: string;
  /** Of the pull request. */
  url: string;
  state: GateState;
  words: string;
  /** Null: nobody has looked. */
  judgedAt: string | null;
  updatedAt: string;
}

/** What Emend says on the pull requests of a project's repositories. */
export interface DashboardGates {
  /** Newest first. */
  statuses: readonly DashboardGateRow[];
  /** When each repository was looked at last; `problem`: what stood in the way. */
  looks: readonly { repository: string; lookedAt: string; problem: string | null }[];
}

/** One status, with every place that it is about. */
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
  }[];
  /** Why the forge does not show it; null: it does. */
  refusal: string | null;
  /** The job that makes the docs' pull request; null: nobody has asked for it. */
  jobId: string | null;
  /** What that job is told, or why it cannot help. */
  fix: { prompt: string } | { cannot: string };
}

export interface DashboardComment {
  id: string;
  author: string;
  text: string;
  at: string;
}

/** What asks for jobs by itself. */
export interface DashboardAutomation {
  id: string;
  name: string;
  trigger: DashboardTrigger;
  /** Why it can do nothing by itself; null: nothing hinders it. */
  problem: string | null;
  /** A template. */
  prompt: string;
  /** Null: the project's. */
  model: string | null;
  pausedAt: string | null;
  /** When it fires, or looks, next; null: by hand alone. */
  dueAt: string | null;
  /** The job that it made last. */
  jobId: string | null;
  createdBy: string;
  createdAt: string;
}

export type DashboardTrigger =
  | { kind: "cron"; expression: string; timezone: string }
  | {
      kind: "push";
      /** The context repository's name. */
      repository: string;
      branches: readonly string[];
      tags: readonly string[];
      include: readonly string[];
      exclude: readonly string[];
    }
  | { kind: "manual" };

export interface DashboardAutomationRun {
  id: string;
  state: "waiting" | "started" | "continued" | "merged" | "skipped";
  /** What came of it, for people. */
  words: string;
  jobId: string | null;
  createdAt: string;
}

/** A monthly budget of which at least 80 % is used. */
export interface DashboardBudget {
  /** Null: the installation's. */
  projectId: string | null;
  project: string | null;
  /** Such as 2026-03, by UTC. */
  month: string;
  jobs: number;
  costUsd: number;
  /** Null: no limit. */
  jobsMax: number | null;
  costUsdMax: number | null;
  /** New jobs are refused. */
  isSpent: boolean;
}
