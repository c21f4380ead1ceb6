import type { JobStatus } from "./agent-job.ts";
import type { MemberRole } from "./dashboard-accounts.ts";
import type { FailureCode, JobPhase } from "./failure-code.ts";
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
