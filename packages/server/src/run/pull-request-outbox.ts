import { answerMark, type Conversation, type Forge, isAnswered, type PullRequestComment } from "@emend/forges";
import { type CodeOwners, quietMarkdown, type WriteQueue } from "@emend/publish";
import type { Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import { recordNotice } from "../jobs/run/record-work.ts";
import type { CrashPoint } from "./crash-points.ts";
import { placeOf, threadsOf } from "./read-comment.ts";

/** What follows a published pull request. Tasks: a forge that is unavailable gets it later, and a job never fails for it. */
export interface OutboxDeps {
  pool: Queryable;
  writes: WriteQueue;
  /** Null if the project is gone. `owners`: whose reviews are requested too, where the project wants it. */
  forgeOf(projectId: string, owners?: CodeOwners): Promise<Forge | null>;
  crashPoint?(name: CrashPoint): void;
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

/** What to say on a pull request, and to which of its comments. */
interface Answer {
  jobId: string;
  /** In its marker, so that it is not sent twice, even after a crash. */
  to: string;
  words: string;
  /** Null: not to a comment. `to`: where it is not given. */
  commentId?: string | null;
  /** For each thread, where it is about several. Without it, the threads get no answer of their own. */
  brief?: string;
}

/** Sends an answer where it was asked, unless it is there, perhaps since just before a crash. */
export async function answerComment(deps: OutboxDeps, answer: Answer, signal: AbortSignal): Promise<void> {
  const pull = await findPull(deps, answer.jobId);
  const conversation = pull?.forge.conversation;
  if (!conversation) return;
  const problem = "A comment on the pull request has no answer";
  await sendOrNote(deps, { ...pull, jobId: answer.jobId, problem }, signal, async () => {
    const comments = await conversation.listComments(pull.number, signal);
    if (isAnswered(comments, answer.to)) return;
    deps.crashPoint?.("before-answer-sent");
    await sendAnswer(conversation, { ...answer, number: pull.number, comments }, signal);
    deps.crashPoint?.("after-answer-sent");
  });
}

/** In the thread of a line, or on the whole. */
async function sendAnswer(
  conversation: Conversation,
  answer: Answer & { number: number; comments: readonly PullRequestComment[] },
  signal: AbortSignal,
): Promise<void> {
  const { number, comments, to, words, commentId = to, brief } = answer;
  const asked = comments.find((one) => [one, ...(one.lines ?? [])].some(({ id }) => id === commentId));
  const { threads, isOne } = asked ? threadsOf(asked) : { threads: [], isOne: false };
  const [only] = threads;
  if (only && isOne) {
    if (await conversation.reply(number, only, marked(to, words), signal)) return;
    return conversation.comment(number, marked(to, `About ${placeOf(only)}: ${words}`), signal);
  }
  for (const thread of brief === undefined ? [] : threads) {
    const part = `${to}/${thread.id}`;
    if (isAnswered(comments, part)) continue;
    if (!(await conversation.reply(number, thread, marked(part, brief ?? ""), signal))) break;
  }
  // The last one: where it is, so are the others.
  await conversation.comment(number, marked(to, words), signal);
}

function marked(to: string, words: string): string {
  return `${quietMarkdown(words, answerCharactersMax)}\n\n${answerMark(to)}`;
}

/** As the trigger that asks for the answer stores it. */
interface EndedMessage {
  commentId: string | null;
  /** Why its round failed. */
  failure: string | null;
  /** What it pushed. Null: no change. */
  commit: string | null;
  /** What the agent says to it. */
  reply: string | null;
}

/** Says what became of a request from the pull request. */
export async function answerMessage(
  deps: OutboxDeps,
  { jobId, number }: { jobId: string; number: number },
  signal: AbortSignal,
): Promise<void> {
  const { rows } = await deps.pool.query<EndedMessage>(
    `select comment_id as "commentId", outcome ->> 'failure' as failure, outcome ->> 'commit' as commit,
       outcome ->> 'reply' as reply
     from job_messages where job_id = $1 and number = $2 and outcome is not null`,
    [jobId, number],
  );
  const [ended] = rows;
  if (!ended) return;
  const { commentId, failure, commit, reply } = ended;
  const to = { jobId, to: `message-${number}`, commentId };
  if (failure !== null) return answerComment(deps, { ...to, words: failure }, signal);
  // The commit's whole id: forges make a link of it.
  const brief = commit === null ? "No change was needed." : `Done in ${commit}.`;
  await answerComment(deps, { ...to, brief, words: reply ? `${brief} ${reply}` : brief }, signal);
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
