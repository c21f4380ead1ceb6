import type { Queryable } from "../db/pool.ts";
import type { Conversation, PullRequestComment } from "../forge/forge.ts";
import type { Look } from "../jobs/claim-look.ts";
import { hearComment } from "../jobs/hear-comment.ts";

/** What became of a follow-up: taken now or by another node, to be asked again, or refused in words for its author. */
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
}

export interface CommentDeps {
  pool: Queryable;
  /** Marks the comment as heard where it takes the follow-up, in the same transaction. */
  followUp(input: FollowUpInput): Promise<FollowUpOutcome>;
}

/** A comment is for Emend when it begins by calling it. */
const call = /^\s*@emend\b[\s:,]*/i;

/**
 * Comments that call Emend become follow-ups, if their author may write to the repository; others do nothing. A comment
 * is marked as heard with what it leads to or after it, so one that a crash cuts off is heard again and none acts twice.
 */
export async function followComments(
  deps: CommentDeps,
  look: Look,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const comments = await conversation.listComments(look.number, signal);
  for (const comment of comments) {
    if (!call.test(comment.text) || look.heard.includes(comment.id)) continue;
    const prompt = promptOf(comment);
    if (prompt === "" || !(await conversation.mayWrite(comment.author, signal))) {
      await hearComment(deps.pool, look.jobId, comment.id);
      continue;
    }
    const { jobId, projectId } = look;
    const asked = { jobId, projectId, commentId: comment.id, prompt, author: comment.author };
    const outcome = await deps.followUp(asked);
    // The job is at work now, or others are; what else was said waits for its next rest.
    if (outcome.kind === "accepted" || outcome.kind === "later") return;
    if (outcome.kind === "heard") continue;
    const isAnswered = comments.some(({ text }) => text.includes(answerTo(comment)));
    const words = `${outcome.words}\n\n${answerTo(comment)}`;
    if (!isAnswered) await conversation.comment(look.number, words, signal);
    await hearComment(deps.pool, look.jobId, comment.id);
  }
}

/** Says which comment an answer is to: one that was sent before a crash is not sent again. */
function answerTo({ id }: PullRequestComment): string {
  return `<!-- emend:answer=${id} -->`;
}

function promptOf({ text, path, line }: PullRequestComment): string {
  const words = text.replace(call, "").trim();
  if (words === "" || path === null) return words;
  return `In ${path}${line === null ? "" : `, line ${line}`}: ${words}`;
}
