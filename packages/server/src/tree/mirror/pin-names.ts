import { createHash } from "node:crypto";
import { checkId } from "./mirror-context.ts";

export const baseFolder = "refs/emend/base/";
export const runFolder = "refs/emend/run/";
export const movedFolder = "refs/emend/moved/";
/** Keeps where the branch of a job that is continued parted from its base branch. */
export const forkFolder = "refs/emend/fork/";
/** Keeps what a job left on its branch last, while it is compared with what is there now. */
export const leftFolder = "refs/emend/left/";
export const tipFolder = "refs/emend/tip/";

/** Keeps the base that a job reads. */
export function basePin(jobId: string): string {
  checkId(jobId);
  return baseFolder + jobId;
}

/** Keeps the commit that a job made. */
export function runPin(jobId: string): string {
  checkId(jobId);
  return runFolder + jobId;
}

/** Keeps the base branch as it is when a job publishes, while both are merged. */
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
 * Keeps a branch's last known commit, so that the next fetch brings only what is new; no pin. Hashed, since a
 * branch `a` may be gone and `a/b` have come, which git cannot have at the same time.
 */
export function tipRef(branch: string): string {
  return tipFolder + createHash("sha256").update(branch).digest("hex").slice(0, 32);
}
