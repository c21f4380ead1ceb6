import type { Finding } from "@emend/site";
import type { Forge, PullRequest } from "../forge/forge.ts";
import type { Mirror } from "../tree/mirror/mirror.ts";
import type { OverlayEntry } from "../tree/tree.ts";
import type { CommitSettings } from "./commit-message.ts";
import type { WriteQueue } from "./write-queue.ts";

/** Where a test build can be told to die while it publishes, in order. */
export const publishCrashPoints = [
  "before-commit",
  "after-commit",
  "after-commit-stored",
  "before-push",
  "after-push",
  "after-push-stored",
  "before-find",
  "after-find",
  "before-create",
  "after-create",
  "before-details",
  "after-details",
] as const;
export type PublishCrashPoint = (typeof publishCrashPoints)[number];

export interface CommitIds {
  treeId: string;
  commitId: string;
}

/** What became of a change: its pushed branch and its pull request. */
export type Publication =
  | {
      /** opened: by this run. found: an earlier run, or an answer that got lost, had opened it. The others: a person's decision, never undone. */
      kind: "opened" | "found" | "closed" | "merged";
      pullRequest: PullRequest;
      commitId: string;
    }
  /** The branch holds somebody else's commit, which stays. */
  | { kind: "branch_conflict"; branch: string; found: string | null };

export interface PublishDeps {
  forge: Forge;
  mirror: Mirror;
  /** Fenced by the lease: each throws when it is lost. */
  store: {
    saveCommit(ids: CommitIds): Promise<void>;
    /** The branch is on the forge. */
    savePush(): Promise<void>;
  };
  writes: WriteQueue;
  /** Below the lease: a request that outlives it could land after another worker has ended the job. */
  requestMsMax?: number;
  /** Told of what did not work and does not matter enough to fail: labels, reviewers. */
  warn(message: string, error: unknown): Promise<void>;
  crashPoint(name: PublishCrashPoint): void;
  /**
   * Renews the lease, and says until when by `performance.now()` a request may be sent on it; throws when it is lost
   * or a stop was asked for.
   */
  renewForEffect(): Promise<{ sendBeforeMs: number }>;
}

/** `dispute`: why the agent holds it to be wrong. */
export type DisputedFinding = Finding & { dispute?: string };

/** What the review found, as its verdict tells it. */
export interface CheckFigures {
  introduced: readonly DisputedFinding[];
  fixed: readonly Finding[];
  findingsBefore: number;
  findingsAfter: number;
  links?: { total: number; unjudged: number };
}

/** What a job has used up. */
export interface TotalUsage {
  steps: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  costUsd: number;
}

/** A line that a change is founded on, where a reader can look it up. */
export interface CitedSource {
  /** The context repository's name; null for the project's own repository. */
  repository: string | null;
  repositoryUrl: string;
  forge: string;
  path: string;
  line: number;
  commit: string;
}

/** What came of the first prompt or of a follow-up. */
export interface EarlierRound {
  /** 0: the first prompt. */
  message: number;
  /** Null: it changed nothing. */
  title: string | null;
  summary: string | null;
  failure: string | null;
  /** What it did in answer to its message; its summary is then of the whole pull request. */
  reply?: string | null;
}

export interface PublishInput {
  job: {
    id: string;
    createdAt: Date;
    branch: string;
    prompt: string;
    /** What was asked after it. */
    followUps: readonly string[];
    /** Where a reader of the pull request can look the job up. */
    url: string;
  };
  /** The model that answered last. */
  model: string;
  usage: TotalUsage;
  sources: readonly CitedSource[];
  base: { commit: string; ref: string };
  entries: readonly OverlayEntry[];
  /** Files that the base branch changed otherwise since; the pull request says so. */
  baseConflict: readonly string[];
  /** The commit's, and a new pull request's. */
  title: string;
  /** The pull request's, where it has one; sent only where it is another than it was. */
  pullTitle?: string;
  isRetitled?: boolean;
  summary: string;
  /** What was done in answer to the last message; the summary is then of the whole pull request. */
  reply?: string;
  /** What earlier rounds of the job said of their work. */
  rounds?: readonly EarlierRound[];
  /** Files that people pushed to the branch. */
  peoplePaths?: readonly string[];
  /** The whole pull request, where these entries are only what its last follow-up changed. */
  whole?: { base: string; entries: readonly OverlayEntry[]; fork: string };
  checks: CheckFigures;
  draft: boolean;
  /** Why this is a draft, in words for its reader. */
  draftReason?: string;
  commit: CommitSettings;
  /** What an earlier run stored before it pushed. */
  stored: CommitIds | null;
  /** The commit the branch must have now; null: it must not exist. */
  branchExpected: string | null;
}
