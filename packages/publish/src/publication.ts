import type { Forge, PullRequest } from "@emend/forges";
import type { Finding } from "@emend/site";
import type { Mirror, OverlayEntry } from "@emend/tree";
import { plainLine, quietLine, quietText } from "./quiet-text.ts";
import type { WriteQueue } from "./write-queue.ts";

/** The points, in order, where a test can make the process crash while it publishes. */
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
] as const;
export type PublishCrashPoint = (typeof publishCrashPoints)[number];

export interface CommitIds {
  treeId: string;
  commitId: string;
}

/** The outcome of publishing a change: its pushed branch and its pull request. */
export type Publication =
  | {
      /**
       * opened: by this run. found: opened by an earlier run, or by a request whose response was lost. closed, merged:
       * a person's decision, never undone.
       */
      kind: "opened" | "found" | "closed" | "merged";
      pullRequest: PullRequest;
      commitId: string;
    }
  /**
   * A person merged or closed the pull request before a follow-up's commit arrived. `branch`: where the commit is now;
   * null if it was not pushed.
   */
  | { kind: "not_open"; pullRequest: PullRequest; branch: string | null }
  /** The branch has somebody else's commit, which is kept. */
  | { kind: "branch_conflict"; branch: string; found: string | null };

export interface PublishDeps {
  forge: Forge;
  mirror: Mirror;
  /** Fenced by the lease: each call throws if the lease is lost. */
  store: {
    saveCommit(ids: CommitIds): Promise<void>;
    /** Stores that the branch is on the forge. */
    savePush(): Promise<void>;
    /** Stores for how long a request to open the pull request may still take effect. Null: it has had no effect. */
    saveCreate(effectMs: number | null): Promise<void>;
  };
  writes: WriteQueue;
  /** The length of a second in waits: shorter in tests of slow forges. */
  secondMs?: number;
  /** Reports what must not fail the job, in words without a final period. */
  warn(message: string, error?: unknown): Promise<void>;
  crashPoint(name: PublishCrashPoint): void;
  /**
   * Renews the lease. Returns until when (by `performance.now()`) a request may be sent under it. Throws if the lease
   * is lost or the job is stopping.
   */
  renewForEffect(): Promise<{ sendBeforeMs: number }>;
}

/** `dispute`: why the agent considers the finding wrong. */
export type DisputedFinding = Finding & { dispute?: string };

/** The figures of the review's verdict. */
export interface CheckFigures {
  introduced: readonly DisputedFinding[];
  fixed: readonly Finding[];
  findingsBefore: number;
  findingsAfter: number;
  links?: { total: number; unjudged: number };
}

/** A job's total usage. */
export interface TotalUsage {
  steps: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  costUsd: number;
}

/** A source line that a change is based on. */
export interface CitedSource {
  /** The context repository's name; null for the project's own repository. */
  repository: string | null;
  repositoryUrl: string;
  forge: string;
  path: string;
  line: number;
  commit: string;
  /** Words of the page's sentence that it supports. */
  supports?: string;
  cited?: { lineEnd: number; text: string };
}

/** A page in a pull request: the links of its pictures, in the wide window. Null: the page is not on that side. */
export interface PageLinks {
  path: string;
  before: string | null;
  after: string | null;
}

/** The result of the first prompt or of a follow-up. */
export interface EarlierRound {
  /** 0 is the first prompt. */
  message: number;
  /** Null if it changed nothing. */
  title: string | null;
  summary: string | null;
  failure: string | null;
  /** The reply to its message. If present, the summary describes the whole pull request. */
  reply?: string | null;
}

export interface PublishInput {
  job: {
    id: string;
    createdAt: Date;
    branch: string;
    prompt: string;
    /** The follow-up messages. */
    followUps: readonly string[];
    /** The job's page, for readers of the pull request. */
    url: string;
  };
  /** The model that answered last. */
  model: string;
  usage: TotalUsage;
  sources: readonly CitedSource[];
  /** Pages as readers see them, by the addresses of their pictures. */
  pictures?: readonly PageLinks[];
  base: { commit: string; ref: string };
  entries: readonly OverlayEntry[];
  /** Files that the base branch has changed differently since. The pull request lists them. */
  baseConflict: readonly string[];
  /** The title of the commit, and of a new pull request. */
  title: string;
  /** The pull request's title if it differs from the commit's. Sent only if it changed. */
  pullTitle?: string;
  isRetitled?: boolean;
  summary: string;
  /** The reply to the last message. If present, the summary describes the whole pull request. */
  reply?: string;
  /** What earlier rounds of the job reported. */
  rounds?: readonly EarlierRound[];
  /** Files that people pushed to the branch. */
  peoplePaths?: readonly string[];
  /** The whole pull request, if these entries are only the last follow-up's changes. */
  whole?: { base: string; entries: readonly OverlayEntry[]; fork: string };
  checks: CheckFigures;
  draft: boolean;
  /** Why this is a draft, in the reader's words. */
  draftReason?: string;
  commit: CommitSettings;
  /** The ids that an earlier run stored before it pushed. */
  stored: CommitIds | null;
  /** The commit that the branch must have now. Null: the branch must not exist. */
  branchExpected: string | null;
  /** For how long the request of an earlier run may still open the pull request. Null: none was sent. */
  createLeftMs: number | null;
  /** False: the job has waited for its forge long enough and must not send the request once more. */
  mayRepeatCreate: boolean;
  /** If the pull request of a follow-up is no longer open: open a new one, instead of failing. */
  continuesClosed: boolean;
  /** The pull request that this one continues. */
  continues?: PullRequest;
}

const subjectCharactersMax = 120;
const summaryCharactersMax = 8_000;

/** A project's settings for the commits of its jobs. */
export interface CommitSettings {
  authorName: string;
  authorEmail: string;
  signOff: boolean;
}

export function authorOf(settings: CommitSettings): { name: string; email: string } {
  return { name: settings.authorName, email: settings.authorEmail };
}

/** Title, summary, job and sign-off. The same job always gives the same bytes. */
export function commitMessage(input: {
  title: string;
  summary: string;
  job: { id: string };
  commit: CommitSettings;
}): string {
  const { authorName, authorEmail, signOff } = input.commit;
  const trailers = [`Emend-Job: ${input.job.id}`];
  if (signOff) trailers.push(`Signed-off-by: ${plainLine(authorName, 200).replace(/[<>]/g, "")} <${authorEmail}>`);
  const parts = [
    quietLine(input.title, subjectCharactersMax) || "Update documentation",
    quietText(input.summary, summaryCharactersMax),
    trailers.join("\n"),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}
