import type { Fetch } from "@emend/base/network.ts";
import type { ForgeName } from "@emend/contract";
import type { OverlayEntry, PushOutcome } from "@emend/tree";
import type { Polling } from "./polling.ts";

/** What a forge must offer: enough to publish one pull request exactly once and to follow its state. */

/** One line of a pull request's checks. */
export interface PullRequestCheck {
  name: string;
  verdict: "passed" | "flagged";
  detail: string;
}

export interface PullRequestDraft {
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  checks: readonly PullRequestCheck[];
}

export interface PullRequestChange {
  body: string;
  /** `draft`: its state now; some forges keep it in the title. */
  title?: { text: string; draft: boolean };
  /** For a forge that shows checks on its page. */
  checks?: readonly PullRequestCheck[];
}

export interface PullRequest {
  number: number;
  url: string;
  state: "open" | "merged" | "closed";
  draft: boolean;
  head: string;
  base: string;
  body: string;
  /** Of its head branch, in full or its first digits. Absent: the forge does not say. */
  headCommit?: string;
  /** Its base branch has changed the same lines. Absent: it has not, or the forge does not say. */
  hasConflicts?: true;
  /** The newest commit of its base branch, in full or its first digits, where the forge does not say `hasConflicts`. */
  baseCommit?: string;
}

export type CreateOutcome =
  | { kind: "created"; pullRequest: PullRequest }
  /** The branch already has an open pull request: look it up. */
  | { kind: "exists" }
  /** Nothing was created: this repository does not support drafts. */
  | { kind: "drafts_unsupported" };

/**
 * `merged`: or the forge has the order, and merges in a moment. `refused`: in the forge's words, such as a check or an approval that is missing. It may be possible
 * later.
 */
export type MergeOutcome = { kind: "merged" } | { kind: "refused"; words: string };

interface GitRemote {
  /** Without credentials. */
  url: string;
  /** Sent as an HTTP header through the environment, never in a URL, an argument or a file. */
  authorization: string | null;
}

/** A comment on a pull request. */
export interface PullRequestComment {
  /** Unique within the repository. */
  id: string;
  author: string;
  /** The author's display name, if it differs from `author`. */
  authorName?: string;
  text: string;
  /** The file that a review comment is about. */
  path: string | null;
  line: number | null;
  /** The line is one that the change removes: it exists only in the base. */
  isRemovedLine?: boolean;
  /** A review's line comments. Their ids are a separate series. */
  lines?: readonly PullRequestComment[];
  /** The first comment of its thread, if it is another one. */
  thread?: string;
  /** A review that asks the pull request's author for changes. */
  requestsChanges?: true;
}

/** Which pull requests to look for. */
export interface PullRequestSearch {
  head: string;
  /** If known. Some forges search by both branches. */
  base?: string;
  /** Nothing older is needed: a list sorted newest first ends there. */
  since?: Date;
}

/** An open pull request of a repository, by anyone. */
export interface OpenPullRequest {
  number: number;
  url: string;
  title: string;
  body: string;
  head: string;
  base: string;
  /** As the list tells it: Bitbucket's has the first twelve digits only. */
  headCommit: string;
  /** Its branch is in another repository. */
  isFork: boolean;
}

/** What a pull request compares: its newest commit, and where that parted from the base branch. */
export interface PullRequestCommits {
  head: string;
  base: string;
}

/** What a forge shows beside a commit, one for each name. */
export interface CommitStatus {
  commit: string;
  /** Those whose newest commit it is. GitLab files a status under each. */
  pulls: readonly Pick<OpenPullRequest, "number" | "head" | "isFork">[];
  name: string;
  /** `neutral`: looked at, with findings that must not block; `pending`: not looked at, and never taken for good. */
  state: "pending" | "passed" | "neutral" | "failed";
  words: string;
  url: string;
}

/** What CI says about a commit: a check run, a status, or a job of a pipeline. */
export interface CommitCheck {
  name: string;
  /** `stopped`: cancelled, or it waits for a person. */
  state: "pending" | "passed" | "failed" | "stopped";
  /** What it says about itself. */
  words: string;
  /** Where `readLog` finds its log. Null: the forge has none. */
  log: string | null;
}

interface CommitReport {
  /** One for each name: the newest. */
  checks: readonly CommitCheck[];
  /** False: there may be more that this credential may not read. */
  isWhole: boolean;
}

export interface CommitChecks {
  /** `pull`: the number of the pull request whose newest commit it is. Null: the commit is of the base branch. */
  report(at: { commit: string; pull: number | null }, signal: AbortSignal): Promise<CommitReport>;
  /** The last part of its log. Null: the forge does not give it. */
  readLog(at: { commit: string; log: string }, signal: AbortSignal): Promise<string | null>;
}

/** What a forge says about a repository and the credential's permissions. Null: unknown. */
export interface RepositoryDescription {
  /** As the forge spells it. If it differs from the project's, the repository was renamed or moved. */
  path: string;
  defaultBranch: string | null;
  archived: boolean;
  mayPush: boolean | null;
  mayOpenPullRequests: boolean | null;
}

/** Obstacles for jobs besides the repository's permissions. Null: unknown, or not visible to this token. */
export interface ForgeInspection {
  /** The server's name and version, if it states them. */
  server: string | null;
  /** The account that the credential belongs to. */
  account: string | null;
  expiresAt: Date | null;
  /** Permissions that jobs need and the credential lacks, in words. */
  lacks: readonly string[];
  /** Whose comments cannot be acted on because their permissions are unknown, in words. Null: everybody's are known. */
  unknownAuthors?: string | null;
  /** Rules that would reject a push to the branch, in words. */
  branchRules: readonly string[] | null;
  webhooks: readonly ForgeWebhook[] | null;
}

export interface ForgeWebhook {
  url: string;
  isActive: boolean;
  /** Why its last delivery failed, in words. Null: it did not fail, or unknown. */
  failure: string | null;
}

/** A commit that the forge creates. */
export interface ForgeCommit {
  base: string;
  /** The expected tree. If the forge creates a different one, that is an error. */
  treeId: string;
  message: string;
  entries: readonly OverlayEntry[];
}

/** Commits that the forge creates and signs. */
export interface ForgeCommits {
  /** Creates a commit that no branch points to. Safe to retry, but each call gives another id. */
  create(commit: ForgeCommit, signal: AbortSignal): Promise<string>;
  /** Sets a branch to a commit if it is at the expected one (null: it must not exist). Safe to retry. */
  setBranch(
    input: { branch: string; commit: string; expected: string | null },
    signal: AbortSignal,
  ): Promise<PushOutcome>;
}

/**
 * Errors: ForgeFault "forge_rejected" is a permanent refusal in the forge's words. "forge_unavailable" may have the
 * forge's Retry-After. For any other error, the outcome is unknown.
 */
export interface Forge {
  readonly name: ForgeName;
  /** A hash of the credential. Writes with the same credential are serialized. */
  readonly credentialId: string;
  /** Whether its page shows `checks`. If not, they go into the body. */
  readonly showsChecks: boolean;
  /** Of a pull request's text, in UTF-16 units. Absent: there is room for 60,000. */
  readonly bodyLengthMax?: number;
  /** The URL and authorization for git. */
  gitRemote(signal: AbortSignal): Promise<GitRemote>;
  /** Null: commits are created here and pushed with git. */
  readonly commits: ForgeCommits | null;
  /** All pull requests of a head branch, in every state, newest first. Always includes the open one. */
  findPullRequests(search: PullRequestSearch, signal: AbortSignal): Promise<readonly PullRequest[]>;
  createPullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<CreateOutcome>;
  /**
   * For how long after it was sent a request to create a pull request may still be carried out, even if nobody waits for
   * the answer: the server's own limit. 0: the request is atomic, so a second one is refused.
   */
  readonly effectSecondsMax: number;
  /** Closes it without merging. Safe to retry. */
  closePullRequest(number: number, signal: AbortSignal): Promise<void>;
  /** Merges it if its head is still this commit. Safe to retry. Null: not on this forge. */
  readonly mergePullRequest:
    | ((input: { number: number; commit: string }, signal: AbortSignal) => Promise<MergeOutcome>)
    | null;
  /** The git ref of a pull request's commits, which stays where it was when it is merged or closed. */
  readonly pullRef?: (number: number) => string;
  /** Sets labels and reviewers from the project's settings. Safe to retry. Null if nothing is set. */
  readonly ensureDetails: ((number: number, signal: AbortSignal) => Promise<void>) | null;
  /** Null if it does not exist. */
  readPullRequest(number: number, signal: AbortSignal): Promise<PullRequest | null>;
  /** Replaces its text and whatever else `change` has. */
  updatePullRequest(number: number, change: PullRequestChange, signal: AbortSignal): Promise<void>;
  /** Of whoever opened them, the last changed first, a few hundred at most. */
  listOpenPullRequests(signal: AbortSignal): Promise<readonly OpenPullRequest[]>;
  /** Null: the forge does not say, or no longer knows a commit. */
  readPullRequestCommits(pull: OpenPullRequest, signal: AbortSignal): Promise<PullRequestCommits | null>;
  /** Replaces the status of this name. Safe to repeat. Returns why a pull request does not show it. Null: all do. */
  setStatus(status: CommitStatus, signal: AbortSignal): Promise<string | null>;
  /** A pull request may later show another pipeline, without the status: it must be set at every check. */
  readonly movesStatuses?: true;
  /** Why a fork's pull request may have no commits here, and no status. Absent: it always has both. */
  readonly forkLimit?: string;
  /** Null: results of CI are not read on this forge. */
  readonly checks: CommitChecks | null;
  describeRepository(signal: AbortSignal): Promise<RepositoryDescription>;
  /** The repository's current URL, in case it was renamed or moved. Null if that cannot happen. */
  readonly findAddress: ((signal: AbortSignal) => Promise<string>) | null;
  /** Checks for `emend doctor`. `branch` is one that a job could use. Null if there is nothing to check. */
  readonly inspect: ((branch: string, signal: AbortSignal) => Promise<ForgeInspection>) | null;
  /** Null if people talk to Emend in another way. */
  readonly conversation: Conversation | null;
  /** Null if the forge has no issues that can start jobs. */
  readonly issues: Issues | null;
}

/** `unknown`: the person is connected with the repository, but the forge does not show more to this token. */
export type WriteAccess = "yes" | "no" | "unknown";

export interface Conversation {
  /** Comments and reviews, oldest first. Of a long conversation, the newest thousand or so. */
  listComments(number: number, signal: AbortSignal): Promise<readonly PullRequestComment[]>;
  /** Whether the author of a comment may write to the repository. */
  mayWrite(author: string, signal: AbortSignal): Promise<WriteAccess>;
  comment(number: number, text: string, signal: AbortSignal): Promise<void>;
  /** Answers in the thread of a comment on a line. False: the comment is gone, or this server cannot do it. */
  reply(number: number, comment: PullRequestComment, text: string, signal: AbortSignal): Promise<boolean>;
}

export interface Issue {
  title: string;
  body: string;
  isOpen: boolean;
  labels: readonly string[];
}

/** What somebody did on an issue. */
export interface IssueAct {
  /** Unique within the issue, for acts of the same kind. */
  id: string;
  author: string;
  /** The forge says that a program did it. */
  isBot: boolean;
  at: Date;
}

interface IssueComment extends IssueAct {
  text: string;
}

export interface Issues {
  /** Null: there is no such issue, it is a pull request, or it is confidential. */
  read(number: number, signal: AbortSignal): Promise<Issue | null>;
  /** Who added a label last. Nothing before `since` counts. Null: the forge does not say. */
  findLabelling(number: number, label: string, since: Date, signal: AbortSignal): Promise<IssueAct | null>;
  /** Those since then, oldest first, without what only a part of its readers can see. There may be earlier ones too. */
  listComments(number: number, since: Date, signal: AbortSignal): Promise<readonly IssueComment[]>;
  /** Returns its id. */
  comment(number: number, text: string, signal: AbortSignal): Promise<string>;
  /** False: the comment no longer exists. */
  editComment(number: number, id: string, text: string, signal: AbortSignal): Promise<boolean>;
}

/** The parts of a project that its forge needs. */
export interface ForgeProject {
  id: string;
  forge: string;
  /** Without credentials. */
  repositoryUrl: string;
  settings: ForgeSettings;
}

export interface ForgeSettings {
  /** Null: derived from the repository's URL. */
  apiUrl: string | null;
  labels: readonly string[];
  /** User names on the forge. */
  reviewers: readonly string[];
  /** GitHub and Gitea: teams of the organization. */
  teamReviewers: readonly string[];
  /** GitHub Apps: GitHub creates the commits and signs them for the App. */
  verifiedCommits: boolean;
  /** GitLab and Azure DevOps: squash commits when merging. Null: the GitLab project's setting, or what Azure DevOps allows. */
  squash: boolean | null;
  /** GitLab, Bitbucket and Azure DevOps: delete the branch when merging. Null: the forge's default. */
  removeSourceBranch: boolean | null;
}

/** Nothing but pull requests. */
export const plainSettings: ForgeSettings = {
  apiUrl: null,
  labels: [],
  reviewers: [],
  teamReviewers: [],
  verifiedCommits: false,
  squash: null,
  removeSourceBranch: null,
};

/** SSRF guard: connects only to allowed addresses, even if the name resolves to others later. */
export interface JudgedReach {
  fetch: Fetch;
  /**
   * The IP addresses that git must use for this URL. Null if the operator's proxy resolves names. Throws a refusal for
   * users.
   */
  addressesOf(url: string): Promise<readonly string[] | null>;
}

/** The input of every forge that is reached over HTTP. */
export interface RemoteForgeInput {
  fetch: Fetch;
  project: ForgeProject;
  /** As entered: a token, or an App as JSON. */
  credential: string;
  /** Set if the forge is opened for polling. */
  polling?: Polling;
}

/** A comment is for Emend if it starts with a mention. */
export const mention = /^\s*@emend\b[\s:,]*/i;
