import type { ForgeName } from "@emend/contract";
import type { PushOutcome } from "../tree/mirror/mirror.ts";
import type { OverlayEntry } from "../tree/tree.ts";

/** What a forge must offer: enough to publish one pull request exactly once and to hear what becomes of it. */

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
  /** `draft`: as it is now; some forges say so in the title. */
  title?: { text: string; draft: boolean };
  /** For a forge whose page shows them by itself. */
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
}

export type CreateOutcome =
  | { kind: "created"; pullRequest: PullRequest }
  /** The branch has an open pull request already: look for it. */
  | { kind: "exists" }
  /** Nothing was made: this repository has no drafts. */
  | { kind: "drafts_unsupported" };

interface GitRemote {
  /** Without credentials. */
  url: string;
  /** Sent as an HTTP header from the environment; never in a URL, argument or file. */
  authorization: string | null;
}

/** What somebody wrote on a pull request. */
export interface PullRequestComment {
  /** Unique among the comments of the repository. */
  id: string;
  author: string;
  /** As people call the author, where `author` is not that. */
  authorName?: string;
  text: string;
  /** Where a review comment points. */
  path: string | null;
  line: number | null;
  /** The line is one that the change removes: it is in the base and no longer in the branch. */
  isRemovedLine?: boolean;
  /** Of a review: its comments on lines, which belong to its text. Their ids are numbered apart. */
  lines?: readonly PullRequestComment[];
}

/** Which pull requests to look for. */
export interface PullRequestSearch {
  head: string;
  /** Where it is known: some forges find by both branches at once. */
  base?: string;
  /** None that is wanted is older: a list that is read newest first ends there. */
  since?: Date;
}

/** What a forge tells of a repository and of the credential's rights on it; null: it does not say. */
export interface RepositoryDescription {
  /** As the forge spells it; another than the project's: it was renamed or moved. */
  path: string;
  defaultBranch: string | null;
  archived: boolean;
  mayPush: boolean | null;
  mayOpenPullRequests: boolean | null;
}

/** What stands in a job's way besides the rights on the repository; null: the forge does not say, or not to this token. */
export interface ForgeInspection {
  /** The server, where it tells its name and version. */
  server: string | null;
  /** As whom the credential acts. */
  account: string | null;
  expiresAt: Date | null;
  /** What the credential may not do although jobs need it, in words. */
  lacks: readonly string[];
  /** Whose comments cannot be acted on because their rights are not told, in words; null: everybody's rights are. */
  unknownAuthors?: string | null;
  /** Rules that would refuse a push to the branch, in words. */
  branchRules: readonly string[] | null;
  webhooks: readonly ForgeWebhook[] | null;
}

interface ForgeWebhook {
  url: string;
  isActive: boolean;
  /** Why its last delivery failed, in words; null: it did not, or nothing is known of it. */
  failure: string | null;
}

/** A commit for a forge to make. */
export interface ForgeCommit {
  base: string;
  /** What it must come to: a forge that makes another tree has not understood. */
  treeId: string;
  message: string;
  entries: readonly OverlayEntry[];
}

/** Commits that a forge makes by itself, and signs. */
export interface ForgeCommits {
  /** Makes it where no branch points to it: safe to repeat, though each gives another id. */
  create(commit: ForgeCommit, signal: AbortSignal): Promise<string>;
  /** Sets a branch to a commit where it is what is expected (null: not there), and never otherwise. Safe to repeat. */
  setBranch(
    input: { branch: string; commit: string; expected: string | null },
    signal: AbortSignal,
  ): Promise<PushOutcome>;
}

/**
 * Faults are thrown: AppError "forge_rejected" is a permanent refusal in the forge's own words, "forge_unavailable"
 * may carry the forge's Retry-After; anything else thrown by a request is an unclear answer.
 */
export interface Forge {
  readonly name: ForgeName;
  /** Writes under one credential go one after the other. Not the credential itself. */
  readonly credentialId: string;
  /** Whether its page shows `checks` by itself; where not, they go into the body. */
  readonly showsChecks: boolean;
  /** Where and how git reaches the repository. */
  gitRemote(signal: AbortSignal): Promise<GitRemote>;
  /** Null: commits are made here and pushed by git. */
  readonly commits: ForgeCommits | null;
  /** Every pull request of a head branch, in all states, newest first; of several, at least the open one. */
  findPullRequests(search: PullRequestSearch, signal: AbortSignal): Promise<readonly PullRequest[]>;
  createPullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<CreateOutcome>;
  /** Its labels and reviewers by the project's settings. Safe to repeat; null where nothing is set. */
  readonly ensureDetails: ((number: number, signal: AbortSignal) => Promise<void>) | null;
  /** Null: there is no such pull request. */
  readPullRequest(number: number, signal: AbortSignal): Promise<PullRequest | null>;
  /** Replaces its text, and what else the change says. */
  updatePullRequest(number: number, change: PullRequestChange, signal: AbortSignal): Promise<void>;
  describeRepository(signal: AbortSignal): Promise<RepositoryDescription>;
  /** Where people find the repository now, should it have been renamed or moved. Null where that cannot happen. */
  readonly findAddress: ((signal: AbortSignal) => Promise<string>) | null;
  /** Looks at what a doctor wants to know; `branch`: one that a job could have. Null where nothing can stand in the way. */
  readonly inspect: ((branch: string, signal: AbortSignal) => Promise<ForgeInspection>) | null;
  /** Null where people have another way to talk to Emend. */
  readonly conversation: Conversation | null;
}

/** `unknown`: the person has to do with the repository, and the forge does not tell this token more. */
export type WriteAccess = "yes" | "no" | "unknown";

export interface Conversation {
  /** Remarks and reviews, oldest first. */
  listComments(number: number, signal: AbortSignal): Promise<readonly PullRequestComment[]>;
  /** Whether the author of a comment may write to the repository. */
  mayWrite(author: string, signal: AbortSignal): Promise<WriteAccess>;
  comment(number: number, text: string, signal: AbortSignal): Promise<void>;
}
