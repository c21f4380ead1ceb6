import { type FollowUp, type Step, unansweredIn } from "@emend/agent";
import { assertNever } from "@emend/base/fault.ts";
import type { Logger } from "@emend/base/logger.ts";
import { type FailureCode, failureCodes } from "@emend/contract";
import { sayNotOpen } from "@emend/publish";
import type { Violation } from "@emend/review";
import type { Pool } from "../db/pool.ts";
import { isDatabaseUnavailable } from "../db/transaction.ts";
import { type AppError, isAppError } from "../errors.ts";
import type { AnnounceChange } from "../jobs/announce.ts";
import { type Ending, endRun, type Release, releaseRun } from "../jobs/run/end-run.ts";
import type { LeasedJob, StoredWords } from "../jobs/run/leased-job.ts";
import { LeaseLost } from "../jobs/run/leases.ts";
import { type AskedQuestion, waitForAnswer } from "../jobs/run/wait-for-answer.ts";
import type { Disk } from "../lib/disk.ts";
import { approvalFor } from "./ask-approval.ts";
import type { CrashPoint } from "./crash-points.ts";
import {
  proposeChange,
  proposeOnMovedBase,
  type ReviewedProposal,
  reviewFinished,
  totalUsage,
} from "./propose-change.ts";
import { createRecorder, retryThroughOutage } from "./recorder.ts";
import type { Recorder, RunDeps } from "./run.ts";
import {
  type ActiveRun,
  type OpenTree,
  type Outcome,
  type PassableVerdict,
  Released,
  type ReviewedChange,
  type Stages,
  Stalled,
} from "./run.ts";

/**
 * One attempt at a job, continuing where an earlier one stopped. Stored steps are not requested from the model again,
 * and a job whose commit is stored is only published.
 */
async function runJob(deps: RunDeps, job: LeasedJob, signal: AbortSignal): Promise<Outcome> {
  if (job.denied) return { kind: "denied", ...job.denied };
  if (job.unansweredApproval !== null && job.change === null)
    return { kind: "unapproved", question: job.unansweredApproval, hours: job.approvalWaitMs / 3_600_000 };
  const { stages, recorder, crashPoint } = deps;
  const { edits, ...said } = await recorder.load();
  crashPoint("after-load");

  const tree = await stages.openTree(job, edits, signal);
  crashPoint("after-tree-opened");
  const { baseBranch: branch, pushedByPeople = [] } = tree;
  if (job.base === null) await recorder.saveBase({ commit: tree.base.commit, branch, pushedByPeople });
  crashPoint("after-base-pinned");

  const proposal = job.change
    ? resumeChange(job, job.change, said)
    : job.finished
      ? await reviewFinished(deps, job, tree, resumeChange(job, job.finished, said), signal)
      : await proposeChange(deps, job, tree, said, signal);
  if (proposal.kind !== "reviewed") return proposal;
  const pictures = await stages.takePictures?.(job, tree, proposal.change, signal);
  if (pictures) await recorder.savePictures(pictures);
  if (job.preview) return { kind: "previewed", change: proposal.change };

  const { model, usage } = proposal;
  const onBase = await proposeOnMovedBase(deps, job, tree, proposal.change, signal);
  if (onBase.kind !== "change") return onBase;
  const { change, move, baseConflict } = onBase;
  // With what happened on the base branch since an approval, it may be another change: then a person is asked anew.
  const asked = await askAbout(job, onBase.tree, change);
  if (asked) {
    if (move?.kind === "merged") await recorder.saveChange(move.change);
    return asked;
  }
  const saveCommit: Recorder["saveCommit"] = (ids) => recorder.saveCommit(ids, move ?? undefined);
  const work = { ...onBase.tree, change, model, usage, baseConflict, stored: job.change };
  const publication = await stages.publish(job, { ...work, recorder: { ...recorder, saveCommit } }, signal);
  if (publication.kind === "branch_conflict" || publication.kind === "not_open") return publication;

  crashPoint("before-pull-request-stored");
  await recorder.savePullRequest(publication.pullRequest);
  crashPoint("after-pull-request-stored");
  return { kind: "published", pullRequest: publication.pullRequest, change };
}

/** Nothing of a change leaves Emend before a person has approved what the site does not have. */
async function askAbout(
  job: LeasedJob,
  tree: OpenTree,
  { verdict }: ReviewedChange,
): Promise<Extract<Outcome, { kind: "asked" }> | null> {
  if (job.change) return null;
  const asked = await approvalFor(job, tree, verdict.constructs);
  return asked && { kind: "asked", ...asked };
}

interface RunJobDeps {
  pool: Pool;
  log: Logger;
  stages: Stages;
  leaseMs: number;
  /** How long a run that ends may take to leave what it waits for. */
  leaveMsMax: number;
  announceChange: AnnounceChange;
  patience: Patience;
  disk?: Disk;
  crashPoint(name: CrashPoint): void;
  /** Receives each run's outcome: completed, a failure's code, asked, stopped, released, retry, crash or lost. */
  onSettled?(outcome: string, projectId: string): void;
}

/** Runs a claimed job and settles it. Never throws: a job's failure must not stop the worker. */
export async function runClaimedJob(deps: RunJobDeps, run: ActiveRun, processEnds: AbortSignal): Promise<void> {
  const log = deps.log.child({ jobId: run.job.id, run: run.job.runs });
  try {
    const next = await attempt({ ...deps, log, processEnds }, run);
    if (next.kind === "leave") throw new LeaseLost(run.job.id);
    await retryThroughOutage(log, processEnds, () => writeAfterRun(deps, run, next));
    const outcome = nameOf(next);
    log.info({ next: next.kind, outcome }, "run ended");
    deps.onSettled?.(outcome, run.job.projectId);
  } catch (error) {
    const isStopped = error instanceof LeaseLost && (await wasStopped(deps.pool, run.job.id));
    deps.onSettled?.(isStopped ? "stopped" : "lost", run.job.projectId);
    if (isStopped) log.info("run stopped on request");
    else if (error instanceof LeaseLost) log.warn("lease lost; another worker continues the run");
    else log.error({ err: error }, "could not record the run's result; its lease will expire");
  }
}

/** Canceling or archiving a job ends it at once, and with it the worker's lease. */
async function wasStopped(pool: Pool, id: string): Promise<boolean> {
  const asked = await pool
    .query("select 1 from jobs where id = $1 and (status = 'archived' or failure_code = 'cancelled')", [id])
    .catch(() => null);
  return asked?.rowCount === 1;
}

async function attempt(deps: RunJobDeps & { processEnds: AbortSignal }, run: ActiveRun): Promise<AfterRun> {
  const { job, controller } = run;
  // A job with a stored commit only needs publishing. It is never given up because a worker was lost.
  if (job.crashesBlamed >= deps.patience.crashesMax && job.change === null) {
    return { kind: "end", ending: { kind: "failed", code: "internal", message: internalMessage } };
  }
  deps.log.info("run started");
  deps.announceChange(job.id);
  deps.crashPoint("after-claim");
  try {
    const recorder = createRecorder(deps, run);
    const outcome = await untilLeft(runJob({ ...deps, recorder }, job, controller.signal), run, deps.leaveMsMax);
    if (outcome.kind === "asked") return { kind: "ask", asked: outcome };
    return { kind: "end", ending: endingOf(outcome) };
  } catch (error) {
    const cause = controller.signal.aborted ? controller.signal.reason : error;
    // A stop of the process, a cancel and a lost lease are no failures. What becomes of the run is logged when it settles.
    const isFault = ![Released, LeaseLost].some((kind) => cause instanceof kind);
    if (isFault) deps.log.warn({ err: error, ...(cause !== error && { reason: cause.name }) }, "run failed");
    // A machine that cannot write is no judge of a failure. Stored steps are not paid for again.
    const problem = isFault ? await deps.disk?.examine() : null;
    if (problem) {
      const data = { code: "internal", message: problem };
      const release = { reason: "waiting", waitsFor: "disk", delayMs: deps.patience.retryMs, data } as const;
      return { kind: "release", release };
    }
    return afterFailure(cause, job, deps.patience, run.hasWork);
  }
}

/**
 * A wait that ignores its signal does not keep the run: its lease ends, and with it the right to write. A model's answer
 * that waits for the database was paid for, so it is stored first.
 */
async function untilLeft<T>(work: Promise<T>, run: ActiveRun, leaveMsMax: number): Promise<T> {
  const { signal } = run.controller;
  const left = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const leave = () => {
    if (run.pendingCalls === 0) left.reject(signal.reason);
    else timer = setTimeout(leave, leaveMsMax / 10);
  };
  const begin = () => {
    timer = setTimeout(leave, leaveMsMax);
  };
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  work.catch(() => {});
  try {
    return await Promise.race([work, left.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", begin);
  }
}

function nameOf(next: StoredNext): string {
  if (next.kind === "release") return next.release.reason;
  if (next.kind === "ask") return "asked";
  return next.ending.kind === "failed" ? next.ending.code : next.ending.kind;
}

type StoredNext = Exclude<AfterRun, { kind: "leave" }>;

async function writeAfterRun(deps: RunJobDeps, run: ActiveRun, next: StoredNext): Promise<void> {
  const { lease } = run.job;
  if (next.kind === "release") return releaseRun(deps.pool, lease, next.release);
  if (next.kind === "ask") {
    deps.crashPoint("before-question-told");
    const waitMs = next.asked.constructs ? run.job.approvalWaitMs : run.job.answerWaitMs;
    await waitForAnswer(deps.pool, lease, next.asked, waitMs);
    return deps.crashPoint("after-question-told");
  }
  deps.crashPoint("before-end");
  await endRun(deps.pool, lease, next.ending);
  deps.crashPoint("after-end");
}

/** What to do with a job after its run. */
type AfterRun =
  | { kind: "end"; ending: Ending }
  | { kind: "release"; release: Release }
  | { kind: "ask"; asked: AskedQuestion }
  /** Another worker owns the job now. */
  | { kind: "leave" };

export interface Patience {
  crashesMax: number;
  /** How many times in a row a remote service may be unavailable. */
  retriesMax: number;
  retryMs: number;
}

const retryMsMax = 3_600_000;
const waitMsMax = 600_000;
type Retryable = Pick<AppError, "publicMessage" | "retryable" | "retryAfterMs">;
const databaseAway: Retryable = {
  publicMessage: "The database was unavailable.",
  retryable: true,
  retryAfterMs: undefined,
};
const noProgress: Retryable = {
  publicMessage: "The run made no progress: something that it waited for never answered.",
  retryable: true,
  retryAfterMs: undefined,
};
const internalMessage = "Emend failed unexpectedly on this job. The server's log has details.";

/** Decides what a failure does to the job. A process shutdown or a database outage is never the job's fault. */
export function afterFailure(
  error: unknown,
  job: LeasedJob,
  patience: Patience,
  /** There is stored work that a failure would lose. */
  hasWork: boolean,
): AfterRun {
  if (error instanceof LeaseLost) return { kind: "leave" };
  if (error instanceof Released) return { kind: "release", release: { reason: "released", delayMs: 0 } };
  if (error instanceof Stalled) return retryOrFail(noProgress, "internal", job, patience);
  // The release itself waits for the database, so this counts outages, not their duration.
  if (isDatabaseUnavailable(error)) return retryOrFail(databaseAway, "internal", job, patience);
  if (isAppError(error, "unavailable")) return retryOrFail(error, "internal", job, patience);
  if (isAppError(error) && error.isPending) return waitForEffect(error, patience);
  if (hasWork && isForgeAway(error) && job.publishWaitMs > 0) return waitOrFail(error, job, patience);
  if (isAppError(error) && isFailure(error.code)) return retryOrFail(error, error.code, job, patience);
  return unexpected(job, patience);
}

function retryOrFail(error: Retryable, code: FailureCode, job: LeasedJob, patience: Patience): AfterRun {
  if (!error.retryable || job.retries >= patience.retriesMax) {
    return { kind: "end", ending: { kind: "failed", code, message: error.publicMessage } };
  }
  const backOffMs = patience.retryMs * 2 ** job.retries * (0.8 + Math.random() * 0.4);
  const delayMs = Math.min(Math.max(backOffMs, error.retryAfterMs ?? 0), retryMsMax);
  return {
    kind: "release",
    release: { reason: "retry", delayMs, data: { code, message: error.publicMessage, try: job.retries + 1 } },
  };
}

type ForgeAway = AppError & { code: "forge_unavailable" | "repository_unavailable" };

function isForgeAway(error: unknown): error is ForgeAway {
  const isForges = isAppError(error, "forge_unavailable") || isAppError(error, "repository_unavailable");
  return isForges && error.retryable;
}

/**
 * Finished work waits for its forge without a lease, with growing pauses, for as long as the project allows. The last
 * attempt is at the end of that time.
 */
function waitOrFail(error: ForgeAway, job: LeasedJob, patience: Patience): AfterRun {
  const { publicMessage: message, code } = error;
  const waitedMs = job.waitedMs ?? 0;
  const leftMs = job.publishWaitMs - waitedMs;
  if (leftMs <= 0) {
    const hours = Math.round(job.publishWaitMs / 360_000) / 10;
    const words = `${message} Emend waited ${hours} h for it. The work is kept: retry the job once the forge is back.`;
    return { kind: "end", ending: { kind: "failed", code, message: words } };
  }
  const backOffMs = Math.min(Math.max(patience.retryMs, waitedMs / 4), waitMsMax) * (0.8 + Math.random() * 0.4);
  const delayMs = Math.min(Math.max(backOffMs, error.retryAfterMs ?? 0), retryMsMax, leftMs);
  return { kind: "release", release: { reason: "waiting", delayMs, data: { code, message } } };
}

/** A request may still open the pull request. A job that ended before that would leave it behind. */
function waitForEffect(error: AppError, patience: Patience): AfterRun {
  const { publicMessage: message, code } = error;
  const delayMs = Math.min(error.retryAfterMs ?? patience.retryMs, retryMsMax);
  return { kind: "release", release: { reason: "waiting", delayMs, data: { code, message } } };
}

function unexpected(job: LeasedJob, patience: Patience): AfterRun {
  if (job.crashesBlamed + 1 >= patience.crashesMax) {
    return { kind: "end", ending: { kind: "failed", code: "internal", message: internalMessage } };
  }
  return { kind: "release", release: { reason: "crash", delayMs: patience.retryMs * 2 ** job.crashesBlamed } };
}

function isFailure(code: string): code is FailureCode {
  return (failureCodes as readonly string[]).includes(code);
}

const pathsShownMax = 5;

/** The final state for a run's outcome. A reached limit fails the job, even if its work was kept as a draft. */
function endingOf(outcome: Exclude<Outcome, { kind: "asked" }>): Ending {
  switch (outcome.kind) {
    case "unchanged":
      if (outcome.limitReached) return { kind: "failed", code: outcome.limitReached, message: outcome.summary };
      return { kind: "completed", summary: outcome.summary, refused: outcome.refused ?? null };
    case "denied":
      return {
        kind: "failed",
        code: outcome.limitReached ?? "policy_denied",
        message: deniedMessage(outcome.violations),
      };
    case "unapproved": {
      const hours = Math.round(outcome.hours * 10) / 10;
      const message = `The time to answer (${hours} h) is over: ${outcome.question} Emend published nothing and kept the change. Approve it to publish it.`;
      return { kind: "failed", code: "policy_denied", message };
    }
    case "previewed":
    case "published": {
      const { limitReached, summary } = outcome.change;
      return limitReached ? { kind: "failed", code: limitReached, message: summary } : { kind: "completed", summary };
    }
    case "outdated":
      return { kind: "failed", code: "branch_conflict", message: outdatedMessage(outcome) };
    case "branch_conflict":
      return {
        kind: "failed",
        code: "branch_conflict",
        message:
          outcome.found === null
            ? `The branch ${outcome.branch} was deleted. Create a new job.`
            : `The branch ${outcome.branch} has a commit that Emend did not make. Emend did not change the branch. Create a new job.`,
      };
    case "not_open": {
      const where =
        outcome.branch === null
          ? "Emend pushed nothing."
          : `Its commit is on the branch ${outcome.branch}, without a pull request.`;
      const message = `${sayNotOpen(outcome.pullRequest)} ${where} Create a new job.`;
      return { kind: "failed", code: "branch_conflict", message };
    }
    default:
      return assertNever(outcome);
  }
}

function outdatedMessage({ branch, paths }: Extract<Outcome, { kind: "outdated" }>): string {
  const more = paths.length - pathsShownMax;
  const shown = `${paths.slice(0, pathsShownMax).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `The branch ${branch} has changed ${shown} since the preview. Emend published nothing. Create a new job.`;
}

export function deniedMessage(violations: readonly Violation[]): string {
  const shown = violations.slice(0, pathsShownMax).map((violation) => `${violation.path} (${violation.rule})`);
  const more = violations.length - shown.length;
  return `The project's policy does not allow this change: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`;
}

/** A change that an earlier run stored, and with a commit also its review: neither the model nor the review runs again. */
function resumeChange(
  job: LeasedJob,
  stored: StoredWords,
  said: { steps: readonly Step[]; followUps: readonly FollowUp[] },
): ReviewedProposal {
  return {
    kind: "reviewed",
    model: job.answeredBy,
    usage: totalUsage(said.steps),
    change: {
      title: stored.title,
      pullTitle: stored.pullTitle,
      summary: stored.summary,
      ...(stored.reply !== null && { reply: stored.reply }),
      // Only a change that passed review ever gets a commit.
      verdict: stored.findings as PassableVerdict,
      limitReached: stored.limitReached,
      sources: job.sources,
      unanswered: unansweredIn({ ...job, ...said }, said.steps),
    },
  };
}
