import { answerMark, type Forge, isAnswered, type PullRequestComment } from "@emend/forges";
import type { Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { recordNotice } from "../jobs/run/record-work.ts";
import type { CodeOwners } from "../publish/code-owners.ts";
import { quietMarkdown } from "../publish/quiet-text.ts";
import type { WriteQueue } from "../publish/write-queue.ts";

/** What follows a published pull request. Tasks: a forge that is unavailable gets it later, and a job never fails for it. */
export interface OutboxDeps {
  pool: Queryable;
  writes: WriteQueue;
  /** Null if the project is gone. `owners`: whose reviews are requested too, where the project wants it. */
  forgeOf(projectId: string, owners?: CodeOwners): Promise<Forge | null>;
}

const answerCharactersMax = 4_000;

/** Labels and reviewers from the project's settings, and code owners of the changed files. */
export async function setDetails(deps: OutboxDeps, jobId: string, signal: AbortSignal): Promise<void> {
  const pull = await findPull(deps, jobId);
  const ensure = pull?.forge.ensureDetails;
  if (!ensure || pull.state !== "open") return;
  await sendOrNote(deps, { ...pull, jobId, problem: "Labels or reviewers are not set" }, signal, () =>
    ensure(pull.number, signal),
  );
}

/** Sends an answer unless it is there, perhaps since just before a crash: its marker names the comment. */
export async function answerComment(
  deps: OutboxDeps,
  { jobId, to, words }: { jobId: string; to: string; words: string },
  signal: AbortSignal,
): Promise<void> {
  const pull = await findPull(deps, jobId);
  const conversation = pull?.forge.conversation;
  if (!conversation) return;
  await sendOrNote(
    deps,
    { ...pull, jobId, problem: "A comment on the pull request has no answer" },
    signal,
    async () => {
      const comments = await conversation.listComments(pull.number, signal);
      if (isAnswered(comments, to)) return;
      const text = `${quietMarkdown(words, answerCharactersMax)}\n\n${answerMark(to)}`;
      const line = conversation.reply && (await findLine(deps.pool, { jobId, to, comments }));
      if (line) await conversation.reply?.(pull.number, line, text, signal);
      else await conversation.comment(pull.number, text, signal);
    },
  );
}

/** The comment on a line that an answer is for: its own thread is the place. Null: it is about the whole. */
async function findLine(
  pool: Queryable,
  { jobId, to, comments }: { jobId: string; to: string; comments: readonly PullRequestComment[] },
): Promise<string | null> {
  const [, message] = /^message-(\d+)$/.exec(to) ?? [];
  if (message === undefined) return comments.find(({ id, path }) => id === to && path !== null)?.id ?? null;
  // A round's message keeps its author and not the comment: that is the last one of theirs, unless there is a later round.
  const { rows } = await pool.query<{ author: string; heard: readonly string[] }>(
    `select substr(last.created_by, 9) as author, comments_heard as heard
     from jobs join lateral (select * from job_messages where job_id = jobs.id order by number desc limit 1) last on true
     where jobs.id = $1 and last.number = $2 and last.created_by like 'comment/%'`,
    [jobId, Number(message)],
  );
  const [asked] = rows;
  const heard = comments.findLast(({ id, author }) => author === asked?.author && asked.heard.includes(id));
  return heard && heard.path !== null ? heard.id : null;
}

interface Pull {
  number: number;
  state: string;
  forge: Forge;
}

async function findPull({ pool, forgeOf }: OutboxDeps, jobId: string): Promise<Pull | null> {
  const { rows } = await pool.query<{ projectId: string; number: number; state: string; owners: CodeOwners | null }>(
    `select project_id as "projectId", (pull_request ->> 'number')::int as number, pull_request ->> 'state' as state,
       code_owners as owners
     from jobs where id = $1 and pull_request is not null`,
    [jobId],
  );
  const forge = rows[0] ? await forgeOf(rows[0].projectId, rows[0].owners ?? undefined) : null;
  return rows[0] && forge ? { ...rows[0], forge } : null;
}

/** A final refusal is shown with the job. */
async function sendOrNote(
  { pool, writes }: OutboxDeps,
  { jobId, forge, problem }: Pull & { jobId: string; problem: string },
  signal: AbortSignal,
  send: () => Promise<void>,
): Promise<void> {
  try {
    await writes.write(forge.credentialId, send, signal);
  } catch (error) {
    if (!isAppError(error, "forge_rejected") || error.retryable) throw error;
    await recordNotice(pool, { jobId }, `${problem}: ${error.publicMessage}`);
  }
}
