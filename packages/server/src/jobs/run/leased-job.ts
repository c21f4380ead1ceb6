import type { JobPhase } from "@emend/contract";
import type { RecordedPullRequest } from "../pull-requests.ts";
import type { StoredVerdict } from "../read/run-report.ts";
import type { Lease } from "./leases.ts";
import type { PinnedContext } from "./record-work.ts";

const publishWaitHoursUsual = 24;
const answerWaitHoursUsual = 24;
const questionsUsual = 2;
const approvalWaitHoursUsual = 24;
/** Somebody reads what these ask for. Automations, issues and comments have nobody who answers. */
const hasAsker = /^(?:user|key)\/|^console$/;

/** A job as the run that claimed it sees it, with all that earlier runs stored. */
export interface LeasedJob {
  id: string;
  lease: Lease;
  projectId: string;
  prompt: string;
  /** The follow-up messages, in order. */
  followUps: readonly string[];
  /** What people said while it worked and a step took, in order. */
  interjections: readonly string[];
  /** Whether there may be some that no step took. */
  hasInterjections: boolean;
  /** The chosen model. */
  model: string;
  /** The model that answered last, by its own name. Before the first step, the chosen one. */
  answeredBy: string;
  branch: string;
  createdAt: Date;
  /** The request's own settings. */
  baseRef: string | null;
  draft: boolean | null;
  maxCostUsd: number | null;
  phase: JobPhase;
  runs: number;
  /** Crashes that count against it: in its own code, or of a worker without other jobs. */
  crashesBlamed: number;
  /** How many workers it lost, whoever was to blame. */
  crashes: number;
  /** Its process must run nothing else meanwhile. */
  alone: boolean;
  retries: number;
  /** How long it has waited for its forge. Null if it does not wait. */
  waitedMs: number | null;
  /** For how long an earlier run's request to open the pull request may still take effect. Null: none was sent. */
  createLeftMs: number | null;
  /** How long finished work may wait for its forge. */
  publishWaitMs: number;
  /** The longest that one step may take: a model's turn ends with the project's time limit. */
  turnMsMax: number;
  /** How many questions the agent may ask in all, and how long each waits for an answer. */
  questionsMax: number;
  answerWaitMs: number;
  /** What happens to constructs that Emend does not know: the request's wish, or the project's. */
  unknown: "ask" | "draft" | "refuse";
  /** How long the question about them waits. */
  approvalWaitMs: number;
  /** Ids of what people approved in this round. Null: nobody was asked. */
  approved: readonly string[] | null;
  /** The question that nobody answered in time. */
  unansweredApproval: string | null;
  /** The last step whose question was not answered in time. */
  overdueStep: number | null;
  base: { commit: string; branch: string } | null;
  /** The pull request's base branch, if an earlier round knows it. */
  baseBranch: string | null;
  /** A follow-up of a job whose branch was pushed: its base is that branch, with people's commits. */
  continuesBranch: boolean;
  /**
   * For a follow-up: where the branch diverged from the base branch. Null if unknown.
   */
  forkCommit: string | null;
  /** For a follow-up: the previous round's commit on the branch. */
  branchCommit: string | null;
  /** Files that people pushed to the branch. */
  peoplePaths: readonly string[];
  /** The pull request's title, once there is one. */
  title: string | null;
  /** What earlier rounds reported. */
  rounds: readonly StoredRound[];
  /** Files that the base branch changed differently before the job published. Empty if unknown. */
  baseConflict: readonly string[];
  /** It shows its diff and opens no pull request. */
  preview: boolean;
  /** Its first round makes a plan and changes nothing. */
  plan: boolean;
  /** The commits of context repositories that earlier runs pinned. Later runs read the same. */
  context: readonly PinnedContext[];
  /** The sources of earlier rounds. */
  sources: readonly StoredSource[];
  /** Why policy refused this round's change in an earlier run: the job only needs to be ended. */
  denied: { violations: readonly { path: string; rule: string }[]; limitReached: LimitCode | null } | null;
  /** A preview that is to be published, or a change that a person approved: this very change. */
  finished: StoredWords | null;
  /** It was a preview: nothing of it may have changed since. */
  publishesPreview: boolean;
  /** Stored before the push: a job that has it is published and never worked on again. */
  change: StoredChange | null;
  pullRequest: RecordedPullRequest | null;
}

interface StoredRound {
  /** The message that it answered. 0 is the first prompt. */
  message: number;
  /** Null if it left no commit on the branch. */
  title: string | null;
  /** The pull request's title at that time. */
  pullTitle: string | null;
  summary: string | null;
  failure: string | null;
  /** The reply to its message. If present, the summary describes the whole pull request. */
  reply?: string | null;
}

/** A line of a repository at a commit. */
export interface StoredSource {
  /** The context repository's name; null for the project's own repository. */
  repository: string | null;
  repositoryUrl: string;
  forge: string;
  path: string;
  line: number;
  commit: string;
  /** Words of the page's sentence that it supports. Absent: not said. */
  supports?: string;
  /** The lines themselves, to be held against later commits; absent: not to be kept. */
  cited?: { lineEnd: number; text: string; symbol: string | null };
}

type LimitCode = "budget_exceeded" | "timeout";

export interface StoredWords {
  /** The commit's title. */
  title: string;
  /** The pull request's title. */
  pullTitle: string;
  summary: string;
  reply: string | null;
  /** The review's verdict as it was stored. */
  findings: unknown;
  limitReached: LimitCode | null;
}

interface StoredChange extends StoredWords {
  treeId: string;
  commitId: string;
}

export const leasedJobColumns = `id, lease as token, project_id as "projectId", prompt, model as "answeredBy",
  chosen_model as "chosenModel", branch, created_at as "createdAt", base_ref as "baseRef", draft,
  max_cost_usd as "maxCostUsd", phase, runs, crashes, crashes_blamed as "crashesBlamed", alone, retries, base_commit as "baseCommit",
  base_branch as "baseBranch", title, summary, reply, findings, limit_reached as "limitReached", tree_id as "treeId",
  commit_id as "commitId", pull_request as "pullRequest", continues_branch as "continuesBranch",
  fork_commit as "forkCommit", branch_commit as "branchCommit", coalesce(people_paths, '{}') as "peoplePaths", rounds,
  commit_title as "commitTitle", coalesce(base_conflict, '{}') as "baseConflict", preview,
  publishes_preview as "publishesPreview", plan, context,
  extract(epoch from clock_timestamp() - waiting_since)::float * 1000 as "waitedMs",
  extract(epoch from create_until - clock_timestamp())::float * 1000 as "createLeftMs",
  (select jsonb_build_array(settings -> 'publishWaitHours', settings -> 'answerWaitHours', settings -> 'questionsMax',
     settings #> '{limits,wallTimeMsMax}', settings -> 'approvalWaitHours', settings #> '{policy,unknown}')
     from projects where projects.id = jobs.project_id) as waits,
  (select max(step) from job_questions asked where asked.job_id = jobs.id and answer_until <= clock_timestamp()) as "overdueStep",
  (select max(question) from job_questions asked where asked.job_id = jobs.id and constructs is not null and decision is null
     and answer_until <= clock_timestamp()) as "unansweredApproval", unknown, approved,
  created_by as "createdBy",
  sources, array(select said.prompt from job_messages said where said.job_id = jobs.id order by number) as "followUps",
  has_interjections as "hasInterjections", case when has_interjections then array(
    select said.prompt from job_interjections said where said.job_id = jobs.id and step is not null order by said.id
  ) else '{}' end as interjections`;

type Derived =
  | "lease"
  | "model"
  | "publishWaitMs"
  | "answerWaitMs"
  | "questionsMax"
  | "turnMsMax"
  | "base"
  | "denied"
  | "unknown"
  | "approvalWaitMs"
  | "finished"
  | "change";

/** A job's own columns, and those from which the rest is derived. */
export interface LeasedJobRow extends Omit<LeasedJob, Derived>, Omit<StoredWords, "title" | "pullTitle" | "summary"> {
  token: string;
  chosenModel: string | null;
  waits: readonly unknown[] | null;
  createdBy: string;
  baseCommit: string | null;
  summary: string | null;
  treeId: string | null;
  commitId: string | null;
  commitTitle: string | null;
  unknown: LeasedJob["unknown"] | null;
}

export function toLeasedJob(row: LeasedJobRow): LeasedJob {
  const { baseCommit, baseBranch } = row;
  return {
    ...row,
    lease: { jobId: row.id, token: row.token },
    model: row.chosenModel ?? row.answeredBy,
    publishWaitMs: numberOr(publishWaitHoursUsual, row.waits?.[0]) * 3_600_000,
    answerWaitMs: numberOr(answerWaitHoursUsual, row.waits?.[1]) * 3_600_000,
    questionsMax: hasAsker.test(row.createdBy) ? numberOr(questionsUsual, row.waits?.[2]) : 0,
    turnMsMax: numberOr(turnMsUsual, row.waits?.[3]),
    approvalWaitMs: numberOr(approvalWaitHoursUsual, row.waits?.[4]) * 3_600_000,
    unknown: row.unknown ?? unknownOr("ask", row.waits?.[5]),
    base: baseCommit && baseBranch ? { commit: baseCommit, branch: baseBranch } : null,
    denied: toDenied(row),
    finished: row.publishesPreview || row.approved ? toStoredWords(row) : null,
    change: toStoredChange(row),
  };
}

const turnMsUsual = 1_200_000;

/** The stored setting. Absent if it was not set. */
function numberOr(usual: number, stored: unknown): number {
  return typeof stored === "number" ? stored : usual;
}

function unknownOr(usual: LeasedJob["unknown"], stored: unknown): LeasedJob["unknown"] {
  return stored === "ask" || stored === "draft" || stored === "refuse" ? stored : usual;
}

function toDenied({ findings, limitReached }: LeasedJobRow): LeasedJob["denied"] {
  const verdict = findings as StoredVerdict | null;
  return verdict?.kind === "denied" ? { violations: verdict.violations ?? [], limitReached } : null;
}

function toStoredChange(row: LeasedJobRow): StoredChange | null {
  const { treeId, commitId } = row;
  return treeId === null || commitId === null ? null : { ...toStoredWords(row), treeId, commitId };
}

function toStoredWords({ commitTitle, title, summary, reply, findings, limitReached }: LeasedJobRow): StoredWords {
  const pullTitle = title ?? "";
  return { title: commitTitle ?? pullTitle, pullTitle, summary: summary ?? "", reply, findings, limitReached };
}
