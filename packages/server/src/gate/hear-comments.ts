import { answerMark, type Forge, isAnswered, mention } from "@emend/forges";
import type { Project } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { type GateStatus, type GateSubject, isOfJob, markCommentHandled } from "./gate-store.ts";

export interface HearCommentsDeps {
  pool: Pool;
  /** Handles a request in a comment. A refusal has a message for its author. */
  startDocsJob(input: { id: string; createdBy: string; commentId: string }): Promise<unknown>;
}

/** The requests that a comment can make. No other text of the comment reaches the job. */
const asksForFix =
  /^(?:please\s+)?(?:(?:fix|update|repair)(?:\s+(?:the|these|it|this))?(?:\s+(?:docs?|documentation|pages?))?)?[\s.!]*$/i;
const otherWords =
  "On this pull request, Emend can update the docs for what it changes. Write `@emend fix the docs`, or only `@emend`.";

/**
 * `@emend` on a pull request opens the docs pull request, if there is something to fix and its author has write access to the
 * repository. On a job's pull request, comments go to the job.
 */
export async function hearComments(
  deps: HearCommentsDeps,
  { project, watched, forge }: { project: Project; watched: GateSubject; forge: Forge },
  status: GateStatus,
  signal: AbortSignal,
): Promise<void> {
  const { conversation } = forge;
  if (!conversation) return;
  if (watched.contextId === null && (await isOfJob(deps.pool, project.id, status.number))) return;
  const comments = await conversation.listComments(status.number, signal);
  for (const { id, text, author } of comments) {
    if (!mention.test(text) || status.commentsHeard.includes(id)) continue;
    const access = await conversation.mayWrite(author, signal);
    if (access === "yes" && asksForFix.test(text.replace(mention, ""))) {
      const refusal = await deps
        .startDocsJob({ id: status.id, createdBy: `comment/${author}`, commentId: id })
        .then(() => null, wordsOf);
      if (refusal !== null) await answer(id, refusal);
    } else if (access === "yes") await answer(id, otherWords);
    await markCommentHandled(deps.pool, status.id, id);
  }

  async function answer(to: string, words: string): Promise<void> {
    if (isAnswered(comments, to)) return;
    await conversation?.comment(status.number, `${words}\n\n${answerMark(to)}`, signal);
  }
}

function wordsOf(error: unknown): string {
  if (isAppError(error)) return error.publicMessage;
  throw error;
}
