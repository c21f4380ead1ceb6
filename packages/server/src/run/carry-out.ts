import type { Pool } from "../db/pool.ts";
import { endRun } from "../jobs/end-run.ts";
import { LeaseLost } from "../jobs/lease.ts";
import { releaseRun } from "../jobs/release-run.ts";
import type { Logger } from "../lib/logger.ts";
import type { ActiveRun } from "./active-run.ts";
import type { CrashPoint } from "./crash-points.ts";
import { endingOf } from "./ending-of.ts";
import { createRecorder } from "./recorder.ts";
import type { Stages } from "./run.ts";
import { runJob } from "./run-job.ts";
import { internalMessage, type Patience, type Settlement, settlementOf } from "./settlement-of.ts";
import { throughOutage } from "./through-outage.ts";

export interface CarryOutDeps {
  pool: Pool;
  log: Logger;
  stages: Stages;
  leaseMs: number;
  patience: Patience;
  crashPoint(name: CrashPoint): void;
  /** Told how each run was settled: completed, a failure's code, stopped, released, retry, crash or lost. */
  onSettled?(outcome: string): void;
}

/** Runs a claimed job and settles it. Never throws: a job's fault is no fault of the worker. */
export async function carryOut(deps: CarryOutDeps, run: ActiveRun, processEnds: AbortSignal): Promise<void> {
  const log = deps.log.child({ jobId: run.job.id, run: run.job.runs });
  try {
    const settlement = await attempt({ ...deps, log }, run);
    if (settlement.kind === "leave") throw new LeaseLost(run.job.id);
    await throughOutage(log, processEnds, () => settle(deps, run, settlement));
    log.info({ settlement: settlement.kind }, "run settled");
    deps.onSettled?.(nameOf(settlement));
  } catch (error) {
    const isStopped = error instanceof LeaseLost && (await wasStopped(deps.pool, run.job.id));
    deps.onSettled?.(isStopped ? "stopped" : "lost");
    if (isStopped) log.info("run stopped, as was asked");
    else if (error instanceof LeaseLost) log.warn("lease lost, run is left to its new owner");
    else log.error({ err: error }, "could not record the run's result; its lease will expire");
  }
}

/** Whoever cancels or archives a job ends it at once, and with it the lease of whoever works on it. */
async function wasStopped(pool: Pool, id: string): Promise<boolean> {
  const asked = await pool
    .query("select 1 from jobs where id = $1 and (status = 'archived' or failure_code = 'cancelled')", [id])
    .catch(() => null);
  return asked?.rowCount === 1;
}

async function attempt(deps: CarryOutDeps, run: ActiveRun): Promise<Settlement> {
  const { job, controller } = run;
  if (job.stopAsked !== null && job.change === null) return { kind: "end", ending: { kind: "stopped" } };
  if (job.crashes >= deps.patience.crashesMax) {
    return { kind: "end", ending: { kind: "failed", code: "internal", message: internalMessage } };
  }
  deps.log.info("run started");
  deps.crashPoint("after-claim");
  try {
    const recorder = createRecorder(deps, run);
    const outcome = await runJob({ ...deps, recorder }, job, controller.signal);
    return { kind: "end", ending: endingOf(outcome) };
  } catch (error) {
    const cause = controller.signal.aborted ? controller.signal.reason : error;
    deps.log.warn({ err: error, ...(cause !== error && { reason: cause.name }) }, "run failed");
    return settlementOf(cause, job, deps.patience, run.hasWork);
  }
}

function nameOf(settlement: Writing): string {
  if (settlement.kind === "release") return settlement.release.reason;
  return settlement.ending.kind === "failed" ? settlement.ending.code : settlement.ending.kind;
}

type Writing = Exclude<Settlement, { kind: "leave" }>;

async function settle(deps: CarryOutDeps, run: ActiveRun, settlement: Writing): Promise<void> {
  const { lease } = run.job;
  if (settlement.kind === "release") return releaseRun(deps.pool, lease, settlement.release);
  deps.crashPoint("before-end");
  const end = await endRun(deps.pool, lease, settlement.ending);
  // A stop came while the commit was being stored: too late, so the next run carries the publication through.
  if (end === "publishing") return releaseRun(deps.pool, lease, { reason: "released", delayMs: 0 });
  deps.crashPoint("after-end");
}
