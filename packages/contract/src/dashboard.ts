import type { AutomationTrigger } from "./automation.ts";
import type { Claim } from "./claim.ts";
import type { MemberRole } from "./dashboard-accounts.ts";
import type { FailureCode, JobPhase } from "./errors.ts";
import type { JobStatus } from "./job.ts";
import type { JobRun } from "./job-run.ts";

/** Responses of the dashboard's own routes. For browser sessions only, and free to change with the dashboard. */

export interface DashboardSession {
  /** The person's email address, or `console` for a session of a console link. */
  subject: string;
  role: MemberRole;
  /** Null for the console. */
  name: string | null;
  hasPassword: boolean;
  /** Whether the person gets an email when a job of theirs ends. Null: no mail server, or no email address. */
  emailsJobs: boolean | null;
  /** The URL for clients, without a trailing slash. */
  publicUrl: string;
  /** Which of several installations this is, if they share an address. Null: there is only one. */
  cell: string | null;
  /** Emend's version. */
  version: string;
  /** How its commands are typed where it runs: `emend`, or in a checkout `npx emend`. */
  command: string;
  /** For owners, if commands would not find it without an option. */
  dataDir: string | null;
}

export interface DashboardKey {
  id: string;
  /** The first characters, to recognize it. */
  hint: string;
  name: string;
  projectIds: readonly string[];
  scope: "read" | "write" | "manage";
  /** Null: never. */
  expiresAt: string | null;
  /** Null: every address. */
  allowList: readonly string[] | null;
  createdBy: string;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
  /** The address of the program that a person connected. Null for a key that people copy. */
  clientId: string | null;
  /** Whether the person who asks connected this program: viewers may revoke it, too. */
  isMine: boolean;
}

/** What a program asks this browser for. Null: nothing now. */
export interface DashboardConsent {
  asked: {
    id: string;
    /** The program's own claim. */
    name: string;
    clientHost: string;
    /** The host that gets the answer. */
    returnsTo: string;
    scope: "read" | "write";
    /** Whether this person can give the right to create jobs. */
    mayWrite: boolean;
  } | null;
}

export interface DashboardJobRow {
  id: string;
  projectId: string;
  status: JobStatus;
  phase: JobPhase;
  title: string | null;
  /** Its first part. */
  prompt: string;
  model: string;
  failureCode: FailureCode | null;
  /** `waiting`: a person must answer or approve. `refused`: Emend refused what it wanted to change, and nothing else changed. */
  attention: "waiting" | "refused" | null;
  figures: { files: number; additions: number; deletions: number } | null;
  pullRequest: JobRun["pullRequest"];
  createdAt: string;
  endedAt: string | null;
}

export interface DashboardJobPage {
  /** Newest first. */
  jobs: readonly DashboardJobRow[];
  /** Null if there are no more. */
  nextCursor: string | null;
}

export interface DashboardJob {
  projectId: string;
  run: JobRun;
  /** The request's options, to repeat it. */
  options: { baseRef?: string; model?: string; draft?: boolean; maxCostUsd?: number; preview?: boolean };
  /** Follow-up messages. */
  messages: readonly { number: number; prompt: string; createdBy: string; at: string }[];
  /** What came of each prompt that is over, the first one's first; a round that goes on is not here. */
  outcomes: readonly DashboardOutcome[];
  /** What the round at hand has used of what it may use. */
  budget: {
    steps: { used: number; max: number };
    tokens: { used: number; max: number };
    costUsd: { used: number; max: number };
    ms: { used: number; max: number };
  };
  /** The diff is of a change that goes on; of a follow-up, what its round has changed so far. */
  isDiffSoFar: boolean;
  /** The page in wide windows first, and before its change first. */
  pictures: readonly DashboardPicture[];
  /** `user/…` or `key/…`; null: nobody cancelled it. */
  cancelledBy: string | null;
}

/** A page as readers see it, before or after a job's change. */
export interface DashboardPicture {
  path: string;
  side: "before" | "after";
  /** Of the window, in pixels. */
  width: number;
  height: number;
  /** Rows of pixels, from and to, that the other side does not have. */
  marks: readonly (readonly [number, number])[];
  /** The page can be opened. */
  hasPage: boolean;
}

/** What came of a prompt. */
export interface DashboardOutcome {
  /** 0: the first prompt; then the messages by their number. */
  message: number;
  kind: "changed" | "unchanged" | "failed";
  words: string;
}

/** By what people and keys are called where they are named. */
export interface DashboardNames {
  /** `mayReview`: they may write, so they can approve pull requests. */
  people: readonly { email: string; name: string; mayReview: boolean }[];
  keys: readonly { id: string; name: string }[];
}

/** One step of a run, with its tools' results. Texts are shortened. */
export interface DashboardStep {
  text: string;
  tools: readonly { name: string; input: string; output: string | null; isError: boolean }[];
}

/** A page after a change. */
export interface DashboardFile {
  text: string;
}

/** How the rules understand an instruction. Nothing is run. */
export type DashboardReading =
  /** A language model will read it. */
  | { kind: "free" }
  | { kind: "understood"; orders: readonly string[] }
  /** `examples`: some that are understood, the closest first. */
  | { kind: "not_understood"; clause: string; reason: string; examples: readonly string[] };

/** A suggested job. */
export interface DashboardSuggestion {
  prompt: string;
  /** Why, in a few words. */
  because: string;
  /** The rules would change nothing: the findings have no certain fix. */
  isVain?: true;
  /** A job with this prompt is at work, or its pull request is open. */
  underWay?: { jobId: string; number: number | null };
}

/** The installation's status, for its operator. */
export interface DashboardStatus {
  version: string;
  nodes: readonly {
    id: string;
    host: string;
    role: string;
    version: string;
    startedAt: string;
    /** Its last heartbeat. */
    seenAt: string;
    isAlive: boolean;
    /** Why it takes no jobs, or null. */
    problem: string | null;
  }[];
  queue: { waiting: number; running: number; oldestSeconds: number };
  /** Webhook deliveries that are due. */
  deliveriesDue: number;
  /** Statuses, answers, requests and emails that wait for a service, oldest first. `nextTryAt` null: given up. */
  outbox: readonly { kind: string; subject: string; problem: string; since: string; nextTryAt: string | null }[];
  /** The default model, then its fallbacks. `url` null: it runs in Emend itself. `problem` null: it is reachable. */
  models: readonly { name: string; url: string | null; problem: string | null }[];
  forges: readonly { forge: string; url: string; projects: number; problem: string | null }[];
  database: { bytes: number; version: string };
  lastBackupAt: string | null;
}

/** A project's site health, now and over time. */
export interface DashboardHealth {
  /** Oldest first. */
  checks: readonly DashboardSiteCheck[];
  /** The newest findings, worst first; a limited number. */
  findings: readonly DashboardSiteFinding[];
  /** A check is due or running. */
  isChecking: boolean;
  /** Why the last check failed, or null. */
  problem: { at: string; words: string } | null;
  /** Jobs that would fix the findings. */
  fixes: readonly DashboardSuggestion[];
  /** What no longer agrees with the code, by page. */
  truth: readonly DashboardTruthPage[];
  /** What a model was asked when a source was new, and the limits. */
  backfills: readonly {
    /** The context repository. Null: the project's own. */
    repository: string | null;
    requests: number;
    costUsd: number;
    requestsMax: number;
    costUsdMax: number;
  }[];
}

/** A page that no longer agrees with the code. */
export interface DashboardTruthPage {
  path: string;
  /** Stale references, and changed and gone claims. */
  findings: readonly DashboardTruthFinding[];
  /** The job that would repair the page, or why none can. */
  fix: { prompt: string; underWay?: { jobId: string; number: number | null } } | { cannot: string };
}

/** A page of the docs, with what it relies on. */
export interface DashboardPage {
  path: string;
  /** The checked commit. Null: the site was not checked yet. */
  commit: string | null;
  /** Null: this server has no copy of the page at hand. */
  text: string | null;
  /** By line. */
  claims: readonly Claim[];
  findings: readonly DashboardSiteFinding[];
  /** The names of the project's context repositories. */
  repositories: readonly string[];
}

/** What the checks say of a page with another text. */
export interface DashboardEditCheck {
  /** Why it would not be accepted. */
  refusal: string | null;
  introduced: readonly DashboardSiteFinding[];
  fixed: readonly DashboardSiteFinding[];
}

export interface DashboardTruthFinding extends DashboardSiteFinding {
  /** The context repository. Null: the project's own. */
  repository: string | null;
  /** The change that caused it. Null: unknown. */
  cause: Claim["cause"];
  /** The claim, for a changed or gone one. */
  claimId?: string;
}

export interface DashboardSiteCheck {
  checkedAt: string;
  commit: string;
  branch: string;
  framework: string;
  pages: number;
  counts: readonly { check: string; severity: "error" | "warning" | "info"; count: number; fixable: number }[];
  /** The code that the pages were compared with. `repository` is null for the project's own, `commit` if it was not read. */
  sources: readonly { repository: string | null; commit: string | null; problem: string | null }[];
}

export interface DashboardSiteFinding {
  check: string;
  severity: "error" | "warning" | "info";
  path: string;
  line: number;
  message: string;
  /** The prompt of a job that would fix it. Absent: a person has to. */
  fix?: string;
}

/** Jobs and usage of the last days, by creation date. */
export interface DashboardUsage {
  days: number;
  total: DashboardUsageFigures;
  /** Every day, oldest first, including days without jobs. */
  byDay: readonly (DashboardUsageFigures & { day: string })[];
  /** Most jobs first. If there are many, those with the most jobs and those with the highest cost. */
  byProject: readonly (DashboardUsageFigures & { projectId: string; project: string })[];
  byModel: readonly (DashboardUsageFigures & { model: string })[];
}

export interface DashboardUsageFigures {
  jobs: number;
  /** Ended without a failure, archived or not. */
  completed: number;
  failed: number;
  pullRequests: number;
  merged: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
  /** From creation to end, for jobs that ended without follow-ups. Null if there are none. */
  medianMs: number | null;
}

/** Something that creates jobs automatically. */
export interface DashboardAutomation {
  id: string;
  name: string;
  trigger: AutomationTrigger;
  /** Why it cannot run; or null. */
  problem: string | null;
  /** A template. */
  prompt: string;
  /** Null: the project's. */
  model: string | null;
  pausedAt: string | null;
  /** When it fires or polls next. Null: only by hand. */
  dueAt: string | null;
  /** The last job that it created. */
  jobId: string | null;
  createdBy: string;
  createdAt: string;
}

export interface DashboardAutomationRun {
  id: string;
  state: "waiting" | "started" | "continued" | "merged" | "skipped";
  /** The result, for people. */
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
