import type { Queryable } from "../db/pool.ts";
import type { CrashPoint } from "./crash-points.ts";

/**
 * The outcome of a follow-up: accepted by this or another node, to be retried, or refused with a message for its
 * author.
 */
export type FollowUpOutcome =
  | { kind: "accepted" }
  | { kind: "heard" }
  | { kind: "later" }
  | { kind: "refused"; words: string };

export interface FollowUpInput {
  jobId: string;
  projectId: string;
  commentId: string;
  prompt: string;
  author: string;
  /** Who asks. `ci`: a check that failed, and `author` is its name. A comment where it is not given. */
  by?: "comment" | "ci";
}

export interface CommentDeps {
  pool: Queryable;
  /** Posts the answer once, also if the forge is unavailable now. */
  askAnswer(answer: { jobId: string; to: string; words: string }): Promise<void>;
  /** Marks the comment as handled in the transaction that accepts the follow-up. */
  followUp(input: FollowUpInput): Promise<FollowUpOutcome>;
  crashPoint?(name: CrashPoint): void;
}
