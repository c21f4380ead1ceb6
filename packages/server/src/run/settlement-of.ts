import { type FailureCode, failureCodes } from "@emend/contract";
import { isDatabaseUnavailable } from "../db/is-unavailable.ts";
import { AppError, isAppError } from "../errors.ts";
import type { Ending } from "../jobs/end-run.ts";
import { LeaseLost, StopAsked } from "../jobs/lease.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Release } from "../jobs/release-run.ts";
import { Released } from "./active-run.ts";

/** What to do with a job when its run is over. */
export type Settlement =
  | { kind: "end"; ending: Ending }
  | { kind: "release"; release: Release }
  /** It is another's now. */
  | { kind: "leave" };

export interface Patience {
  crashesMax: number;
  /** How often a far end may be away in a row. */
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
export const internalMessage = "Emend failed unexpectedly on this job. The server's log has details.";

/** How a fault leaves the job. A stop of the process and a database that was away are never the job's fault. */
export function settlementOf(
  error: unknown,
  job: LeasedJob,
  patience: Patience,
  /** There is work that a failure would throw away. */
  hasWork: boolean,
): Settlement {
  if (error instanceof LeaseLost) return { kind: "leave" };
  if (error instanceof StopAsked) return { kind: "end", ending: { kind: "stopped" } };
  if (error instanceof Released) return { kind: "release", release: { reason: "released", delayMs: 0 } };
  // The release itself waits until the database is back, so this counts outages and not how long they were.
  if (isDatabaseUnavailable(error)) return retryOrFail(databaseAway, "internal", job, patience);
  if (hasWork && isForgeAway(error) && job.publishWaitMs > 0) return waitOrFail(error, job, patience);
  if (error instanceof AppError && isFailure(error.code)) return retryOrFail(error, error.code, job, patience);
  return unexpected(job, patience);
}

function retryOrFail(error: Retryable, code: FailureCode, job: LeasedJob, patience: Patience): Settlement {
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
 * Finished work waits for its forge, without a lease and with ever longer pauses, for as long as the project says. The
 * last try is at the end of that time.
 */
function waitOrFail(error: ForgeAway, job: LeasedJob, patience: Patience): Settlement {
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

function unexpected(job: LeasedJob, patience: Patience): Settlement {
  if (job.crashes + 1 >= patience.crashesMax) {
    return { kind: "end", ending: { kind: "failed", code: "internal", message: internalMessage } };
  }
  return { kind: "release", release: { reason: "crash", delayMs: patience.retryMs * 2 ** job.crashes } };
}

function isFailure(code: string): code is FailureCode {
  return (failureCodes as readonly string[]).includes(code);
}
