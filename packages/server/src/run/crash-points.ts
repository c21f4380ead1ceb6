import type { PublishCrashPoint } from "@emend/publish";

/** Where a test can make the process crash, in the order of a run. Publishing defines its own points. */
export type CrashPoint =
  | "after-claim"
  | "after-load"
  | "after-tree-opened"
  | "after-base-pinned"
  | "after-interjections-read"
  | "before-step-stored"
  | "after-step-stored"
  | "before-question-told"
  | "after-question-told"
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
  | "after-end"
  | "before-repair-round"
  | "after-repair-round"
  | "after-ci-told"
  | "before-merge"
  | "before-comment-heard"
  | "after-comment-heard"
  | "before-answer-sent"
  | "after-answer-sent"
  | ChatCrashPoint;

/** Of what is said in a chat, and of what is posted there. */
type ChatCrashPoint =
  | "after-chat-stored"
  | "before-chat-job"
  | "after-chat-job"
  | "before-chat-post"
  | "after-chat-post";

/**
 * Kills the process, like a power failure, when the run reaches the point in `at` (`point`, or `point:3` for the third
 * time). For tests only: `at` must be undefined in production.
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
  // The signal may take a moment. Block until then, so that nothing else happens.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
