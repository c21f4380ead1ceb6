import { createHash } from "node:crypto";
import { checkId } from "./mirror-context.ts";

export const baseFolder = "refs/emend/base/";
export const runFolder = "refs/emend/run/";
export const movedFolder = "refs/emend/moved/";
/** Pins the commit at which a continued job's branch diverged from its base branch. */
export const forkFolder = "refs/emend/fork/";
/** Pins a job's last commit on its branch, for comparison with the current one. */
export const leftFolder = "refs/emend/left/";
export const tipFolder = "refs/emend/tip/";

/** Pins the base that a job reads. */
export function basePin(jobId: string): string {
  checkId(jobId);
  return baseFolder + jobId;
}

/** Pins a job's commit. */
export function runPin(jobId: string): string {
  checkId(jobId);
  return runFolder + jobId;
}

/** Pins the current base branch while it is merged with the job's edits. */
export function movedPin(jobId: string): string {
  checkId(jobId);
  return movedFolder + jobId;
}

export function forkPin(jobId: string): string {
  checkId(jobId);
  return forkFolder + jobId;
}

export function leftPin(jobId: string): string {
  checkId(jobId);
  return leftFolder + jobId;
}

/**
 * A branch's last known commit, so that the next fetch gets only what is new. Not a pin. Hashed, because git cannot
 * have refs `a` and `a/b` at the same time.
 */
export function tipRef(branch: string): string {
  return tipFolder + createHash("sha256").update(branch).digest("hex").slice(0, 32);
}
