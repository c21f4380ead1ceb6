import { performance } from "node:perf_hooks";
import type { AgentOutcome, FollowUp, Limits, Step } from "@emend/agent";
import type { Evidence } from "@emend/base/evidence.ts";
import type { Logger } from "@emend/base/logger.ts";
import { withoutFenced } from "@emend/base/markdown.ts";
import type { BuildSettings, PagePicture } from "@emend/build";
import type { ForgeSettings, PullRequest } from "@emend/forges";
import type { CommitSettings, Publication, TotalUsage } from "@emend/publish";
import type { Policy, Verdict, Violation } from "@emend/review";
import type { IgnoreEntry } from "@emend/site";
import type { Overlay, OverlayEntry, Tree } from "@emend/tree";
import type { RecordedPullRequest } from "../jobs/pull-requests.ts";
import type { LeasedJob, StoredSource } from "../jobs/run/leased-job.ts";
import type { RecordedChange, RecordedMove } from "../jobs/run/record-change.ts";
import type { Interjection, PinnedContext, RecordedBase } from "../jobs/run/record-work.ts";
import type { AskedQuestion } from "../jobs/run/wait-for-answer.ts";
import type { CrashPoint } from "./crash-points.ts";
import type { StepChanges } from "./step-changes.ts";

export interface RunDeps {
  log: Logger;
  stages: Stages;
  recorder: Recorder;
  crashPoint(name: CrashPoint): void;
}

/** What a run may write. Each write is fenced by the lease and retried while the database is unavailable. */
export interface Recorder {
  load(): Promise<{ steps: readonly Step[]; followUps: readonly FollowUp[]; edits: readonly OverlayEntry[] }>;
  setPhase(phase: "working" | "checking"): Promise<void>;
  saveBase(base: RecordedBase): Promise<void>;
  saveContext(pinned: PinnedContext): Promise<void>;
  /** `changes`: what those who watch are told of it. */
  saveStep(step: Step, edits: readonly OverlayEntry[], changes?: StepChanges | null): Promise<void>;
  /** What people said since the job works and no step took yet. */
  interjections(): Promise<readonly Interjection[]>;
  saveChange(change: RecordedChange): Promise<void>;
  /** `move`: stored with the commit if the base moved on. */
  saveCommit(ids: { treeId: string; commitId: string }, move?: RecordedMove): Promise<void>;
  savePush(): Promise<void>;
  /** For how long a request to open the pull request may still take effect. */
  saveCreate(effectMs: number | null): Promise<void>;
  savePullRequest(pullRequest: RecordedPullRequest): Promise<void>;
  savePictures(pictures: readonly PagePicture[]): Promise<void>;
  /** A problem that does not fail the job. */
  saveNotice(words: string): Promise<void>;
  /** Called before an external effect. Returns until when (monotonic clock) it may be sent. */
  renewForEffect(): Promise<{ sendBeforeMs: number }>;
}

/** The stages of a run, built once by `create-stages.ts`. A stage's signal aborts when the run is over. */
export interface Stages {
  /** Pins the base, or fetches the one that an earlier run pinned, and applies the stored edits. */
  openTree(job: LeasedJob, edits: readonly OverlayEntry[], signal: AbortSignal): Promise<OpenTree>;
  /** The agent's loop, with the review's findings as feedback. No verdict if nothing changed. */
  runAgent(job: LeasedJob, work: AgentWork, signal: AbortSignal): Promise<AgentResult>;
  /** `said`: the pull request's texts, and what the agent read from context repositories. */
  review(
    job: LeasedJob,
    tree: OpenTree,
    said: Words & { contextText?: readonly string[]; evidence?: Evidence },
    signal: AbortSignal,
  ): Promise<Verdict>;
  /** The unified diff as a reviewer sees it. For a follow-up, the diff of the whole pull request. */
  diff(job: LeasedJob, tree: OpenTree, words: Words, signal: AbortSignal): Promise<ReviewersDiff>;
  /** Where the same change was already proposed and rejected, so that it is not proposed again; or null. */
  findRefused?(job: LeasedJob, diff: Buffer): Promise<string | null>;
  /** An open pull request that changes one of the same files, where the job must not open a second one beside it. */
  findTouching?(job: LeasedJob, diff: Buffer, signal: AbortSignal): Promise<{ url: string; path: string } | null>;
  /** Whom CODEOWNERS names for it, and what kind of change it is. */
  classify?(
    job: LeasedJob,
    tree: OpenTree,
    change: { verdict: Verdict; diff: Buffer },
  ): Promise<Pick<RecordedChange, "codeOwners" | "changeKind">>;
  /** Pictures of the changed pages, before and after. Null: this site is not built, or there is no browser. */
  takePictures?(
    job: LeasedJob,
    tree: OpenTree,
    change: ReviewedChange,
    signal: AbortSignal,
  ): Promise<readonly PagePicture[] | null>;
  /** Reads what happened to the base branch since the tree was opened, and merges it with the edits if possible. */
  openOnMovedBase(job: LeasedJob, tree: OpenTree, words: Words, signal: AbortSignal): Promise<MovedTree>;
  /** Opens exactly one pull request, however often it is called (idempotent). */
  publish(job: LeasedJob, work: PublishWork, signal: AbortSignal): Promise<Publication>;
}

interface ReviewersDiff {
  patch: Buffer;
  /** The commit that the diff is against. */
  base: string;
}

export interface Words {
  /** The commit's title. */
  title: string;
  /** A new title for the pull request, if a follow-up changed its topic. */
  pullTitle?: string;
  summary: string;
  /** The reply to a message. If present, the summary describes the whole pull request. */
  reply?: string;
}

export interface OpenTree {
  base: Tree;
  overlay: Overlay;
  /** The branch that the base commit was read from. */
  baseBranch: string;
  /** Files that people changed on a continued branch since the previous round. */
  pushedByPeople?: readonly string[];
}

type MovedTree =
  | { kind: "unmoved" }
  | { kind: "merged"; tree: OpenTree }
  | { kind: "conflict"; commit: string; paths: readonly string[] };

export interface AgentWork extends OpenTree {
  /** What earlier runs stored. The agent continues from there. */
  steps: readonly Step[];
  saveStep: Recorder["saveStep"];
  saveContext: Recorder["saveContext"];
  interjections: Recorder["interjections"];
  followUps: readonly FollowUp[];
  review(words: Words & { evidence?: Evidence }): Promise<Verdict>;
}

export interface AgentResult {
  outcome: AgentOutcome;
  verdict: Verdict | null;
  /** The sources that the outcome cites, each with the commit that was read. */
  sources?: readonly StoredSource[];
}

/** An agent's change with its review: all that publishing needs. */
export interface ReviewedChange extends Words {
  verdict: PassableVerdict;
  limitReached: LimitCode | null;
  sources: readonly StoredSource[];
  /** Questions that nobody answered in time: the change is based on guesses. */
  unanswered: readonly string[];
}
export type PassableVerdict = Exclude<Verdict, { kind: "denied" }>;
export type LimitCode = Extract<AgentOutcome, { kind: "stopped" }>["code"];

export interface PublishWork extends OpenTree {
  change: ReviewedChange;
  /** The model that answered last. */
  model: string;
  /** The usage of the whole job. */
  usage: TotalUsage;
  /** The ids that an earlier run stored before it pushed. */
  stored: { treeId: string; commitId: string } | null;
  /** Files that the base branch has changed differently since. */
  baseConflict: readonly string[];
  recorder: Pick<Recorder, "saveCommit" | "savePush" | "saveCreate" | "saveNotice" | "renewForEffect">;
}

/** The outcome of a run that completed. */
export type Outcome =
  /** `refused`: why Emend refused what the agent wanted to change last. */
  | { kind: "unchanged"; summary: string; limitReached: LimitCode | null; refused?: string | null }
  /** The job waits for an answer, without a worker. With constructs, for a person's approval. */
  | ({ kind: "asked" } & AskedQuestion)
  | { kind: "denied"; violations: readonly Violation[]; limitReached: LimitCode | null }
  /** Nobody approved the change in time. It is kept. */
  | { kind: "unapproved"; question: string; hours: number }
  | { kind: "published"; pullRequest: PullRequest; change: ReviewedChange }
  /** A preview: its diff is stored, and nothing was sent. */
  | { kind: "previewed"; change: ReviewedChange }
  /** A preview was to be published, and the base branch has changed these files since. */
  | { kind: "outdated"; branch: string; paths: readonly string[] }
  /** `found`: the branch's actual commit; null if the branch is gone. */
  | { kind: "branch_conflict"; branch: string; found: string | null }
  /** A follow-up's pull request was merged or closed first. `branch`: where its commit is; null: nowhere. */
  | { kind: "not_open"; pullRequest: PullRequest; branch: string | null };

/** A run of this process, from claim to end. */
export interface ActiveRun {
  readonly job: LeasedJob;
  /** Aborted with the reason: LeaseLost or Released. */
  readonly controller: AbortController;
  /** The process is shutting down: the run is released after its next stored step. */
  draining: boolean;
  /** The job has stored work that a failure would lose: at least one step. */
  hasWork: boolean;
  /** When it last stored or read something (monotonic clock), and how many such calls wait for the database. */
  progressAtMs: number;
  pendingCalls: number;
}

/** It stored nothing for longer than any of its steps may take, so something that it waits for never answers. */
export class Stalled extends Error {
  constructor() {
    super("the run made no progress");
    this.name = "Stalled";
  }
}

/** The process is shutting down: the run goes back to the queue, and another worker continues it. */
export class Released extends Error {
  constructor() {
    super("the run was released");
    this.name = "Released";
  }
}

export function startRun(job: LeasedJob): ActiveRun {
  return {
    job,
    controller: new AbortController(),
    draining: false,
    hasWork: job.change !== null,
    progressAtMs: performance.now(),
    pendingCalls: 0,
  };
}

/** The parts of a project that a run needs. */
export interface RunProject {
  id: string;
  forge: string;
  repositoryUrl: string;
  baseRef: string | null;
  docsDir: string;
  allowedConstructs: readonly string[];
  settings: {
    styleGuides: readonly string[];
    checks: { ignore: readonly IgnoreEntry[] };
    fallbackModels: readonly string[] | null;
    secondReader: boolean;
    secondReaderModel: string | null;
    build: BuildSettings & { picturesInPullRequests: boolean };
    draft: boolean;
    closedPullRequest: "open_new" | "fail";
    limits: Limits;
    policy: Omit<Policy, "docsDir"> & { unknown: "ask" | "draft" | "refuse" };
    commit: CommitSettings;
    forge: ForgeSettings;
  };
}

/**
 * What people wrote to a job, the first prompt first. Excludes text that an automation quotes, such as commits of
 * strangers.
 */
export function askedOf(job: Pick<LeasedJob, "prompt" | "followUps" | "interjections">): readonly string[] {
  return [job.prompt, ...job.followUps, ...job.interjections].map(withoutFenced);
}

export function policyOf(project: RunProject): Policy {
  const { docsDir, allowedConstructs } = project;
  return { ...project.settings.policy, docsDir, allowedConstructs };
}

/** A request can only lower the project's limits. */
export function limitsOf(project: RunProject, job: LeasedJob): Limits {
  const { limits } = project.settings;
  return { ...limits, costUsdMax: Math.min(limits.costUsdMax, job.maxCostUsd ?? Number.POSITIVE_INFINITY) };
}
