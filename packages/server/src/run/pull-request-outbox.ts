import { answerMark, type Forge, isAnswered } from "@emend/forges";
import type { Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { recordNotice } from "../jobs/run/record-work.ts";
import { quietMarkdown } from "../publish/quiet-text.ts";
import type { WriteQueue } from "../publish/write-queue.ts";

/** What follows a published pull request. Tasks: a forge that is unavailable gets it later, and a job never fails for it. */
export interface OutboxDeps {
  pool: Queryable;
  writes: WriteQueue;
  /** Null if the project is gone. */
  forgeOf(projectId: string): Promise<Forge | null>;
}

const answerCharactersMax = 4_000;

/** Labels and reviewers from the project's settings. */
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
      if (isAnswered(await conversation.listComments(pull.number, signal), to)) return;
      const text = `${quietMarkdown(words, answerCharactersMax)}\n\n${answerMark(to)}`;
      await conversation.comment(pull.number, text, signal);
    },
  );
}

interface Pull {
  number: number;
  state: string;
  forge: Forge;
}

async function findPull({ pool, forgeOf }: OutboxDeps, jobId: string): Promise<Pull | null> {
  const { rows } = await pool.query<{ projectId: string; number: number; state: string }>(
    `select project_id as "projectId", (pull_request ->> 'number')::int as number, pull_request ->> 'state' as state
     from jobs where id = $1 and pull_request is not null`,
    [jobId],
  );
  const forge = rows[0] ? await forgeOf(rows[0].projectId) : null;
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
