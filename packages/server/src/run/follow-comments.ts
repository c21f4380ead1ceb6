import type { Queryable } from "../db/pool.ts";
import type { Conversation, PullRequestComment } from "../forge/forge.ts";
import { hearComment, type Look } from "../jobs/pull-requests.ts";
import { quietMarkdown } from "../publish/quiet-text.ts";

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
}

export interface CommentDeps {
  pool: Queryable;
  /** Marks the comment as handled in the transaction that accepts the follow-up. */
  followUp(input: FollowUpInput): Promise<FollowUpOutcome>;
}

const answerCharactersMax = 4_000;
/** A comment is for Emend if it starts with a mention. */
const call = /^\s*@emend\b[\s:,]*/i;

/**
 * Turns comments that mention Emend into follow-ups, if their author may write to the repository. A comment is marked
 * as handled together with its effect or after it, so a crash repeats it and it never acts twice.
 */
export async function followComments(
  deps: CommentDeps,
  look: Look,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const comments = await conversation.listComments(look.number, signal);
  // Also posted on the pull request, where it was asked. Sent before anything else is handled, because that may start a
  // new round.
  if (look.failed) await answer(`message-${look.failed.message}`, look.failed.words);
  for (const comment of comments) {
    if (!isCall(comment) || isHeard(look, comment)) continue;
    const prompt = promptOf(comment);
    const access = prompt === "" ? "no" : await conversation.mayWrite(comment.author, signal);
    if (access === "unknown") await answer(comment.id, unknownAccess(comment.authorName ?? comment.author));
    if (access !== "yes") {
      await hearComment(deps.pool, look.jobId, comment.id);
      continue;
    }
    const { jobId, projectId } = look;
    const asked = { jobId, projectId, commentId: comment.id, prompt, author: comment.author };
    const outcome = await deps.followUp(asked);
    // A round is running now. Other comments wait until it ends.
    if (outcome.kind === "accepted" || outcome.kind === "later") return;
    if (outcome.kind === "heard") continue;
    await answer(comment.id, outcome.words);
    await hearComment(deps.pool, look.jobId, comment.id);
  }

  /**
   * The marker in the answer names the comment. An answer that was already sent, perhaps just before a crash, is not
   * sent again.
   */
  async function answer(to: string, words: string): Promise<void> {
    const mark = `<!-- emend:answer=${to} -->`;
    if (comments.some(({ text }) => text.includes(mark))) return;
    await conversation.comment(look.number, `${quietMarkdown(words, answerCharactersMax)}\n\n${mark}`, signal);
  }
}

/** A review is for Emend if its text or one of its line comments mentions it. */
function isCall({ text, lines = [] }: PullRequestComment): boolean {
  return call.test(text) || lines.some((line) => call.test(line.text));
}

/** Earlier releases handled line comments one by one. */
function isHeard({ heard }: Look, { id, lines = [] }: PullRequestComment): boolean {
  return heard.includes(id) || lines.some((line) => heard.includes(line.id));
}

/**
 * If a review's text mentions Emend, all of its line comments belong to the request. Otherwise only those that mention
 * it do.
 */
function promptOf(comment: PullRequestComment): string {
  const { text, lines = [] } = comment;
  const isWhole = call.test(text);
  const said = lines.filter((line) => isWhole || call.test(line.text)).map(placed);
  return [isWhole || lines.length === 0 ? placed(comment) : "", ...said].filter((part) => part !== "").join("\n\n");
}

function placed({ text, path, line, isRemovedLine }: PullRequestComment): string {
  const words = text.replace(call, "").trim();
  if (words === "" || path === null) return words;
  return `In ${path}${line === null ? "" : `, ${isRemovedLine ? "removed line" : "line"} ${line}`}: ${words}`;
}

function unknownAccess(author: string): string {
  return (
    `${author}, Emend cannot check whether you have write access to this repository, so it did not act on your comment. ` +
    "On this forge, only administrators of the repository can read permissions. Make Emend's account an administrator, or send the request from Emend's dashboard."
  );
}
