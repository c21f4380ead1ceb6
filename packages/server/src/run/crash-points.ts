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
