import type { ForgeName } from "./forge-name.ts";

/** What the dashboard's routes about people answer. */

export type MemberRole = "owner" | "maintainer" | "viewer";

/** What the login page offers. */
export interface DashboardLogin {
  /** False on the first run: the console prints a link for the first person. */
  hasOwner: boolean;
  /** Null: not configured. */
  singleSignOn: { name: string } | null;
  /** Why single sign-on did not work, in words. */
  problem: string | null;
}

/** A single-use link that asks something before it does anything. */
export interface DashboardLink {
  purpose: "owner" | "invite" | "reset";
  /** Null: the person says it. */
  email: string | null;
  role: MemberRole | null;
}

export interface DashboardMember {
  id: string;
  email: string;
  name: string;
  role: MemberRole;
  /** False: by single sign-on alone. */
  hasPassword: boolean;
  isSelf: boolean;
  createdAt: string;
  lastLoginAt: string | null;
}

export interface DashboardInvitation {
  id: string;
  email: string;
  role: MemberRole;
  createdBy: string | null;
  expiresAt: string;
}

export interface DashboardMembers {
  members: readonly DashboardMember[];
  invitations: readonly DashboardInvitation[];
}

/** The browsers in which whoever asks is logged in. */
export interface DashboardOwnSessions {
  /** This one first, then the newest. */
  sessions: readonly {
    startedAt: string;
    expiresAt: string;
    /** How and from where; null where an earlier release opened it. */
    by: string | null;
    address: string | null;
    isThis: boolean;
  }[];
}

export interface DashboardSettings {
  archiveAfterDays: {
    /** Whose word counts: the dashboard's wins over the environment's. */
    source: "dashboard" | "environment";
    /** Null: never. */
    days: number | null;
    environment: number | null;
  };
  /** Of a calendar month (UTC), for all projects together; null: no limit. */
  monthlyBudget: { jobsMax: number | null; costUsdMax: number | null };
  /** Null: not configured. */
  singleSignOn: {
    name: string;
    issuer: string;
    clientId: string;
    domains: readonly string[];
    defaultRole: MemberRole;
  } | null;
}

export interface DashboardAuditEntry {
  id: string;
  at: string;
  /** An e-mail address, `console`, a key, or `system`. */
  actor: string;
  address: string | null;
  action: string;
  target: string | null;
  details: Readonly<Record<string, unknown>>;
}

export interface DashboardAuditPage {
  /** Newest first. */
  entries: readonly DashboardAuditEntry[];
  /** Null: there are no more. */
  nextCursor: string | null;
}

export interface DashboardProject {
  id: string;
  name: string;
  forge: ForgeName;
  repositoryUrl: string;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  docsDir: string;
  hasCredential: boolean;
  createdAt: string;
  /** Those that a job may choose; the first is taken where it chooses none. */
  models: readonly string[];
  settings: DashboardProjectSettings;
  /** Told once, to whoever adds it: why its repository could not be looked at. */
  notice?: string;
  createsThisHour: number;
  /** The same by twelfths of the hour, oldest first. */
  createsByFiveMinutes: readonly number[];
}

/** What a maintainer may set; the server knows what each may be. */
export interface DashboardProjectSettings {
  /** Null: the installation's. */
  model: string | null;
  /** Further models that a job may choose. */
  models: readonly string[];
  /** Null: the installation's. */
  fallbackModels: readonly string[] | null;
  selfReview: boolean;
  styleGuides: readonly string[];
  createsPerHourMax: number;
  lanes: number;
  draft: boolean;
  /** How long finished work waits for a forge that is away. */
  publishWaitHours: number;
  branchPrefix: string;
  /** What findings on pull requests do; null: the default. */
  gate: { docs: GateLevel | null; sources: GateLevel | null; name: string };
  limits: { stepsMax: number; tokensMax: number; costUsdMax: number; wallTimeMsMax: number };
  policy: {
    allowedPaths: readonly string[];
    externalHosts: readonly string[];
    codeAsDraft: boolean;
    filesMax: number;
    bytesMax: number;
  };
  commit: { authorName: string; authorEmail: string; signOff: boolean };
  forge: {
    apiUrl: string | null;
    labels: readonly string[];
    reviewers: readonly string[];
    teamReviewers: readonly string[];
    verifiedCommits: boolean;
    /** Null: as the forge's own project says. */
    squash: boolean | null;
    removeSourceBranch: boolean | null;
  };
}

/** What a look at a project's forge told. */
export interface DashboardDiagnosis {
  checks: readonly { name: string; verdict: "ok" | "problem" | "unknown"; words: string }[];
  /** For whoever sets the forge's webhook up; null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}

export interface DashboardContextRepository {
  name: string;
  forge: DashboardProject["forge"];
  repositoryUrl: string;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  hasCredential: boolean;
}

export interface DashboardWebhook {
  id: string;
  projectId: string;
  url: string;
  format: "standard" | "slack";
  events: readonly string[];
  disabledAt: string | null;
  disabledReason: string | null;
  createdAt: string;
}

export interface DashboardDelivery {
  id: string;
  /** Null: it is about no job. */
  jobId: string | null;
  event: string;
  state: "pending" | "delivered" | "failed";
  tries: number;
  /** Of a pending one: when it is tried next. */
  dueAt: string;
  lastStatus: number | null;
  lastError: string | null;
  lastTryAt: string | null;
  createdAt: string;
}

type GateLevel = "off" | "neutral" | "failing";
