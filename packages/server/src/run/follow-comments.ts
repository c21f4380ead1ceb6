import type { Queryable } from "../db/pool.ts";
import type { Conversation, PullRequestComment } from "../forge/forge.ts";
import type { Look } from "../jobs/claim-look.ts";
import { hearComment, unhearComment } from "../jobs/hear-comment.ts";

/** What became of a follow-up: taken, to be asked again, or refused in words for its author. */
export type FollowUpOutcome = { kind: "accepted" } | { kind: "later" } | { kind: "refused"; words: string };

export interface FollowUpInput {
  jobId: string;
  projectId: string;
  prompt: string;
  author: string;
}

export interface CommentDeps {
  pool: Queryable;
  followUp(input: FollowUpInput): Promise<FollowUpOutcome>;
}

/** A comment is for Emend when it begins by calling it. */
const call = /^\s*@emend\b[\s:,]*/i;

/**
 * Comments that call Emend become follow-ups, if their author may write to the repository; others do nothing. Each is
 * marked as heard before it is acted on: one that a crash cuts off can be said again, one done twice could not be undone.
 */
export async function followComments(
  deps: CommentDeps,
  look: Look,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  for (const comment of await conversation.listComments(look.number, signal)) {
    if (!call.test(comment.text) || look.heard.includes(comment.id)) continue;
    const isNew = await hearComment(deps.pool, look.jobId, comment.id);
    if (!isNew || !(await conversation.mayWrite(comment.author, signal))) continue;
    const prompt = promptOf(comment);
    if (prompt === "") continue;
    const outcome = await deps.followUp({ ...look, prompt, author: comment.author });
    if (outcome.kind === "later") {
      await unhearComment(deps.pool, look.jobId, comment.id);
      return;
    }
    if (outcome.kind === "refused") await conversation.comment(look.number, outcome.words, signal);
    // The job is at work now; what else was said waits for its next rest.
    if (outcome.kind === "accepted") return;
  }
}

function promptOf({ text, path, line }: PullRequestComment): string {
  const words = text.replace(call, "").trim();
  if (words === "" || path === null) return words;
  return `In ${path}${line === null ? "" : `, line ${line}`}: ${words}`;
}
