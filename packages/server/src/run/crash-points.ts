import type { PublishCrashPoint } from "../publish/publication.ts";

/** Where a test build can be told to die, in the order a run meets them; those of publishing are named there. */
export type CrashPoint =
  | "after-claim"
  | "after-load"
  | "after-tree-opened"
  | "after-base-pinned"
  | "before-step-stored"
  | "after-step-stored"
  | "before-review"
  | "after-review"
  | "before-change-stored"
  | "after-change-stored"
  | "before-base-taken-in"
  | "after-base-taken-in"
  | PublishCrashPoint
  | "before-pull-request-stored"
  | "after-pull-request-stored"
  | "before-end"
  | "after-end";

/**
 * Dies on the spot, as if the power had gone, when the run reaches the point that `at` names (`point`, or `point:3`
 * for its third time). For test builds: `at` must be undefined in any other.
 */
export function createCrashPoint(at: string | undefined): (name: CrashPoint) => void {
  if (at === undefined) return () => {};
  const [wanted, nth = "1"] = at.split(":");
  let left = Number(nth);
  return (name) => {
    if (name !== wanted) return;
    left -= 1;
    if (left === 0) die();
  };
}

function die(): never {
  process.kill(process.pid, "SIGKILL");
  // The signal may take a moment; nothing more may happen in it.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
