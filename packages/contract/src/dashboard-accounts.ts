import type { ForgeName } from "./job.ts";
import type { RetentionName, RetentionSetting } from "./retention.ts";

/** Responses of the dashboard's account routes. */

export type MemberRole = "owner" | "maintainer" | "viewer";

/** The login page's options. */
export interface DashboardLogin {
  /** False on the first run: the console prints a link for the first person. */
  hasOwner: boolean;
  /** Whether anybody has a passkey. */
  takesPasskeys: boolean;
  /** Null: not configured. */
  singleSignOn: { name: string } | null;
  /** Why single sign-on failed, in words. */
  problem: string | null;
}

/** After the password or a link was accepted. */
export interface DashboardLoggedIn {
  /** Null: logged in. Otherwise a code or a passkey is missing, which is sent with this token. */
  secondStep: {
    token: string;
    hasApp: boolean;
    hasPasskey: boolean;
    /** The installation requires a second factor, and the person has none: they set one up now. */
    setUp: { allowsPasskeys: boolean } | null;
  } | null;
}

/** The person's second factors. */
export interface DashboardFactors {
  /** Since when there is an authenticator app. Null: there is none. */
  appSince: string | null;
  passkeys: readonly { id: string; name: string; createdAt: string; lastUsedAt: string | null }[];
  /** False: the installation's address has no domain name or no https. */
  allowsPasskeys: boolean;
  recoveryCodesLeft: number;
  /** Whether the person has just shown that it is them. Otherwise a change asks for it. */
  isFresh: boolean;
}

/** A new authenticator app, which counts once it is confirmed. */
export interface DashboardAppSetup {
  /** The key, for an app that cannot scan. */
  key: string;
  /** What the QR code says. */
  uri: string;
  /** Sent back with the app's first code. */
  setup: string;
}

/** Shown once. Null: the person has some already. */
export interface DashboardRecoveryCodes {
  recoveryCodes: readonly string[] | null;
}

/** A single-use link that asks something first. */
export interface DashboardLink {
  purpose: "owner" | "invite" | "reset";
  /** Null: the person enters it. */
  email: string | null;
  role: MemberRole | null;
}

export interface DashboardMember {
  id: string;
  email: string;
  name: string;
  role: MemberRole;
  /** False: only single sign-on. */
  hasPassword: boolean;
  hasFactor: boolean;
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

/** The directory of an identity provider (SCIM). */
export interface DashboardDirectory {
  /** What the provider is told. */
  url: string;
  /** Of people whose groups give no role. Null: no access. */
  defaultRole: MemberRole | null;
  groups: readonly { name: string; role: MemberRole }[];
  /** Groups that the provider has sent. */
  groupNames: readonly string[];
  people: number;
  /** Those who have access. */
  members: number;
  /** Those who have no access yet, because a member had their address before. */
  waiting: readonly { id: string; email: string; role: MemberRole }[];
  /** Those that work, newest first. */
  tokens: readonly {
    id: string;
    hint: string;
    name: string;
    createdBy: string;
    createdAt: string;
    lastUsedAt: string | null;
  }[];
}

/** The person's logged-in browsers. */
export interface DashboardOwnSessions {
  /** This one first, then the newest. */
  sessions: readonly {
    startedAt: string;
    expiresAt: string;
    /** How and from where. Null for sessions of an earlier release. */
    by: string | null;
    address: string | null;
    isThis: boolean;
  }[];
}

export interface DashboardSettings {
  retention: Readonly<Record<RetentionName, RetentionSetting>>;
  /** Per calendar month (UTC), for all projects together. Null: no limit. */
  monthlyBudget: { jobsMax: number | null; costUsdMax: number | null };
  /** Whether whoever logs in with a password needs one, and how many members with a password have none. */
  secondFactor: { required: boolean; membersWithout: number };
  /** Null: not configured. */
  singleSignOn:
    | ({ name: string; domains: readonly string[]; defaultRole: MemberRole } & (
        | { protocol: "oidc"; issuer: string; clientId: string }
        | {
            protocol: "saml";
            /** The provider's metadata URL, or its entity ID. */
            provider: string;
            /** What the provider asks of this service. The entity ID is the URL of the metadata. */
            entityId: string;
            acsUrl: string;
          }
      ))
    | null;
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
  /** Null if there are no more. */
  nextCursor: string | null;
}

export interface DashboardProjectPage {
  /** Oldest first. */
  projects: readonly DashboardProject[];
  /** Null if there are no more. */
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
  /** The models that a job may choose. The first is the default. */
  models: readonly string[];
  settings: DashboardProjectSettings;
  /** Shown once, to the person who adds it: why its repository could not be checked. */
  notice?: string;
  createsThisHour: number;
  /** The same in twelve steps of five minutes, oldest first. */
  createsByFiveMinutes: readonly number[];
}

export interface IgnoredFindings {
  check: string;
  /** A page or a pattern. Absent: every file. */
  path?: string;
  /** A part of the message. Absent: any. */
  message?: string;
  reason: string;
}

/** A maintainer's settings. The server validates them. */
export interface DashboardProjectSettings {
  /** Saved to be used again. */
  prompts: readonly { name: string; prompt: string }[];
  /** Null: the installation's. */
  model: string | null;
  /** Additional models that a job may choose. */
  models: readonly string[];
  /** Null: the installation's. */
  fallbackModels: readonly string[] | null;
  secondReader: boolean;
  secondReaderModel: string | null;
  driftReader: boolean;
  driftReaderModel: string | null;
  /** On pull requests that Emend hosts: how many approvals of the newest commit a merge needs. 0: none. */
  approvalsMin: number;
  /** How often a job repairs its pull request when CI fails because of it. 0: results of CI are not read. */
  ciRepairRounds: number;
  /** Kinds of changes that Emend merges when checks have passed. */
  autoMerge: readonly ("links" | "typos")[];
  /** After so many days without a comment, Emend reminds once. 0: never. */
  reviewReminderDays: number;
  /** Emend suggests rules that reviewers' corrections have in common. */
  suggestRules: boolean;
  /** Issues of the repository can start jobs. */
  issueTriggers: boolean;
  /** Channels of chats in which a mention of Emend starts a job, such as `slack/C0123456789`. */
  chatChannels: readonly string[];
  styleGuides: readonly string[];
  createsPerHourMax: number;
  lanes: number;
  draft: boolean;
  /** What a follow-up does whose pull request was merged or closed before it was published. */
  closedPullRequest: "open_new" | "fail";
  /** How long finished work waits for an unavailable forge. */
  publishWaitHours: number;
  /** How many questions an agent may ask in a job, and how long each waits for an answer. */
  questionsMax: number;
  answerWaitHours: number;
  approvalWaitHours: number;
  /** Longer prompts are planned first. 0: only where a request asks for it. */
  planPromptsOver: number;
  /** Jobs build the site with its own builder, or with this command. */
  build: {
    on: boolean;
    command: string | null;
    output: string | null;
    picturesInPullRequests: boolean;
    samples: readonly string[];
    service: string | null;
    packages: "none" | "install" | "install_with_scripts";
  };
  branchPrefix: string;
  /** What findings on pull requests do. Null: the default. */
  gate: { docs: GateLevel | null; sources: GateLevel | null; name: string };
  /** Findings of the checks that are not reported, each with a reason. */
  checks: { ignore: readonly IgnoredFindings[] };
  limits: { stepsMax: number; tokensMax: number; costUsdMax: number; wallTimeMsMax: number };
  policy: {
    allowedPaths: readonly string[];
    externalHosts: readonly string[];
    unknown: "ask" | "draft" | "refuse";
    filesMax: number;
    bytesMax: number;
  };
  commit: { authorName: string; authorEmail: string; signOff: boolean };
  forge: {
    apiUrl: string | null;
    labels: readonly string[];
    reviewers: readonly string[];
    /** Requests reviews from the code owners of the changed files too. */
    codeOwners: boolean;
    /** Requests reviews from those who wrote the code that the change cites. */
    codeAuthors: boolean;
    teamReviewers: readonly string[];
    verifiedCommits: boolean;
    /** Null: the forge's project setting. */
    squash: boolean | null;
    removeSourceBranch: boolean | null;
  };
}

/** What people allowed on a project's site, newest first. */
export interface DashboardAllowedConstructs {
  allowed: readonly { key: string; by: string; at: string; jobId: string | null }[];
}

/** The result of checking a project's forge. */
export interface DashboardDiagnosis {
  checks: readonly { name: string; verdict: "ok" | "problem" | "unknown"; words: string }[];
  /** How to set up the forge's webhook. Null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}

/** Repositories that a credential reaches. */
export interface DashboardRepositories {
  repositories: readonly { path: string; url: string; defaultBranch: string | null }[];
  /** Asks for the next page. Null: this is the last one. */
  next: string | null;
  /** Set if the credential is a GitHub App that is not installed anywhere yet. */
  install: { name: string; url: string } | null;
}

/** What the browser posts to GitHub to create an App. */
export interface DashboardNewApp {
  action: string;
  manifest: string;
  permissions: Readonly<Record<string, string>>;
  hasWebhook: boolean;
}

/** A GitHub App that no project uses yet. */
export interface DashboardGithubApp {
  id: string;
  name: string;
  origin: string;
  installUrl: string;
  createdBy: string;
  createdAt: string;
}

export interface DashboardContextRepository {
  name: string;
  forge: DashboardProject["forge"];
  repositoryUrl: string;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  hasCredential: boolean;
}

type GateLevel = "off" | "neutral" | "failing";

/** The models that a project can choose. Prices are US dollars per million tokens. */
export interface DashboardModels {
  /** What its jobs use now. */
  model: string;
  /** The project follows the installation's default. */
  isInherited: boolean;
  /** Tokens of a usual job. `isMeasured`: the median of this installation's jobs. */
  usualJob: { inputTokens: number; cachedInputTokens: number; outputTokens: number; isMeasured: boolean };
  vendors: readonly {
    vendor: string;
    label: string;
    /** The variable that an operator must set first. */
    needs: string | null;
    /** Whose key is used. Null: there is none. */
    key: "project" | "installation" | null;
    isKeyOptional: boolean;
    /** What a model that is not listed is charged like. */
    other: DashboardModel;
    models: readonly DashboardModel[];
  }[];
}

export interface DashboardModel {
  name: string;
  inputUsd: number;
  outputUsd: number;
  /** For what the vendor's cache has. Null: it has no cheaper price. */
  cachedInputUsd: number | null;
  contextTokens: number;
  seesPictures: boolean;
  usualJobUsd: number;
}

/** What came of asking a model one short question. */
export type DashboardModelTrial = { isAnswer: true; ms: number } | { isAnswer: false; words: string };
