import type { ForgeName } from "./forge-name.ts";

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
  /** The project's pull requests, where this installation is the forge. */
  pullsUrl: string | null;
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
  jobId: string;
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
