import type { AgentOutcome, FollowUp, Limits, Step } from "../agent/agent.ts";
import type { PullRequest } from "../forge/forge.ts";
import type { ForgeSettings } from "../forge/forge-project.ts";
import type { RecordedPullRequest } from "../jobs/pull-requests.ts";
import type { LeasedJob, StoredSource } from "../jobs/run/leased-job.ts";
import type { RecordedChange, RecordedMove } from "../jobs/run/record-change.ts";
import type { PinnedContext, RecordedBase } from "../jobs/run/record-work.ts";
import { withoutFenced } from "../lib/without-fenced.ts";
import type { CommitSettings } from "../publish/commit-message.ts";
import type { Publication, TotalUsage } from "../publish/publication.ts";
import type { Policy, Verdict, Violation } from "../review/review.ts";
import type { Overlay, OverlayEntry, Tree } from "../tree/tree.ts";
import type { CrashPoint } from "./crash-points.ts";

export interface RunDeps {
  stages: Stages;
  recorder: Recorder;
  crashPoint(name: CrashPoint): void;
}

/** What a run may write: everything fenced by its lease, and said again while the database is away. */
export interface Recorder {
  load(): Promise<{ steps: readonly Step[]; followUps: readonly FollowUp[]; edits: readonly OverlayEntry[] }>;
  setPhase(phase: "working" | "checking"): Promise<void>;
  saveBase(base: RecordedBase): Promise<void>;
  saveContext(pinned: PinnedContext): Promise<void>;
  saveStep(step: Step, edits: readonly OverlayEntry[]): Promise<void>;
  saveChange(change: RecordedChange): Promise<void>;
  /** `move`: stored with it where the base moved on. */
  saveCommit(ids: { treeId: string; commitId: string }, move?: RecordedMove): Promise<void>;
  savePush(): Promise<void>;
  savePullRequest(pullRequest: RecordedPullRequest): Promise<void>;
  /** What did not work and does not fail the job. */
  saveNotice(words: string): Promise<void>;
  /** Before anything leaves this machine for good: until when, by the monotonic clock, it may be sent. */
  renewForEffect(): Promise<{ sendBeforeMs: number }>;
}

/** The stages of a run, built once by `compose.ts`. Each is told by its signal when the run is over. */
export interface Stages {
  /** Pins the base, or makes sure of the one an earlier run pinned, and lays the stored edits over it. */
  openTree(job: LeasedJob, edits: readonly OverlayEntry[], signal: AbortSignal): Promise<OpenTree>;
  /** The agent's loop, with the review's findings given back to it. No verdict where nothing was changed. */
  runAgent(job: LeasedJob, work: AgentWork, signal: AbortSignal): Promise<AgentResult>;
  /** `said`: what the pull request would say, and what the agent read from context repositories. */
  review(
    job: LeasedJob,
    tree: OpenTree,
    said: Words & { contextText?: readonly string[] },
    signal: AbortSignal,
  ): Promise<Verdict>;
  /** The unified diff as a reviewer sees it: of a follow-up, the whole pull request's. */
  diff(job: LeasedJob, tree: OpenTree, words: Words, signal: AbortSignal): Promise<ReviewersDiff>;
  /** Where the same change was proposed and refused before, so that it is not proposed again; null: nowhere. */
  findRefused?(job: LeasedJob, diff: Buffer): Promise<string | null>;
  /** What became of the base branch since the tree was opened, merged with the edits where that is possible. */
  takeInBase(job: LeasedJob, tree: OpenTree, words: Words, signal: AbortSignal): Promise<MovedTree>;
  /** Exactly one pull request, however often it is called. */
  publish(job: LeasedJob, work: PublishWork, signal: AbortSignal): Promise<Publication>;
}

interface ReviewersDiff {
  patch: Buffer;
  /** The commit that it is against. */
  base: string;
}

export interface Words {
  /** The commit's. */
  title: string;
  /** A new one for the pull request, where a follow-up changed what it is about. */
  pullTitle?: string;
  summary: string;
  /** What was done in answer to a message; the summary is then of the whole pull request. */
  reply?: string;
}

export interface OpenTree {
  base: Tree;
  overlay: Overlay;
  /** The branch that the base commit was read from. */
  baseBranch: string;
  /** Files that people changed on a branch that is continued, since the round before. */
  pushedByPeople?: readonly string[];
}

type MovedTree =
  | { kind: "unmoved" }
  | { kind: "merged"; tree: OpenTree }
  | { kind: "conflict"; commit: string; paths: readonly string[] };

export interface AgentWork extends OpenTree {
  /** What earlier runs stored: the agent goes on from there. */
  steps: readonly Step[];
  saveStep: Recorder["saveStep"];
  saveContext: Recorder["saveContext"];
  followUps: readonly FollowUp[];
  review(words: Words): Promise<Verdict>;
}

export interface AgentResult {
  outcome: AgentOutcome;
  verdict: Verdict | null;
  /** What the outcome cites, each with the commit at which it was read. */
  sources?: readonly StoredSource[];
}

/** An agent's change with the review's word on it: all that publishing needs. */
export interface ReviewedChange extends Words {
  verdict: PassableVerdict;
  limitReached: LimitCode | null;
  sources: readonly StoredSource[];
}
export type PassableVerdict = Exclude<Verdict, { kind: "denied" }>;
export type LimitCode = Extract<AgentOutcome, { kind: "stopped" }>["code"];

export interface PublishWork extends OpenTree {
  change: ReviewedChange;
  /** The model that answered last. */
  model: string;
  /** What the whole job has used up. */
  usage: TotalUsage;
  /** What an earlier run stored before it pushed. */
  stored: { treeId: string; commitId: string } | null;
  /** Files that the base branch changed otherwise meanwhile. */
  baseConflict: readonly string[];
  recorder: Pick<Recorder, "saveCommit" | "savePush" | "saveNotice" | "renewForEffect">;
}

/** What became of a run that was carried to its end. */
export type Outcome =
  | { kind: "unchanged"; summary: string; limitReached: LimitCode | null }
  | { kind: "denied"; violations: readonly Violation[]; limitReached: LimitCode | null }
  | { kind: "published"; pullRequest: PullRequest; change: ReviewedChange }
  /** A preview: its diff is stored, and nothing left this machine. */
  | { kind: "previewed"; change: ReviewedChange }
  /** `found`: the commit that the branch has instead; null: the branch is gone. */
  | { kind: "branch_conflict"; branch: string; found: string | null };

/** A run of this process, from its claim until it is settled. */
export interface ActiveRun {
  readonly job: LeasedJob;
  /** Aborted with the reason: LeaseLost, StopAsked or Released. */
  readonly controller: AbortController;
  /** The process is to stop: the run is given back after its next stored step. */
  draining: boolean;
  /** Past the point where a stop can still be heeded. */
  publishing: boolean;
  /** Something of the job is stored that a failure would throw away: a step, or more. */
  hasWork: boolean;
}

/** The process stops: the run is given back to the queue, for another to go on with. */
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
    publishing: job.change !== null,
    hasWork: job.change !== null,
  };
}

/** As much of a project as a run needs. */
export interface RunProject {
  id: string;
  forge: string;
  repositoryUrl: string;
  baseRef: string | null;
  docsDir: string;
  settings: {
    styleGuides: readonly string[];
    fallbackModels: readonly string[] | null;
    selfReview: boolean;
    draft: boolean;
    limits: Limits;
    policy: Omit<Policy, "docsDir">;
    commit: CommitSettings;
    forge: ForgeSettings;
  };
}

/** What people said to a job, the first prompt first; not what an automation quotes, such as strangers' commits. */
export function askedOf(job: Pick<LeasedJob, "prompt" | "followUps">): readonly string[] {
  return [job.prompt, ...job.followUps].map(withoutFenced);
}

export function policyOf(project: RunProject): Policy {
  return { ...project.settings.policy, docsDir: project.docsDir };
}

/** A request can only lower what the project allows. */
export function limitsOf(project: RunProject, job: LeasedJob): Limits {
  const { limits } = project.settings;
  return { ...limits, costUsdMax: Math.min(limits.costUsdMax, job.maxCostUsd ?? Number.POSITIVE_INFINITY) };
}
