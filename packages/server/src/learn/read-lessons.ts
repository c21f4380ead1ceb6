import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { type Conversation, isOfPerson, type PullRequestComment } from "@emend/forges";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { isAppError } from "../errors.ts";
import { diffFiles } from "../jobs/read/diff.ts";
import { findLessons } from "./find-lessons.ts";
import { readCommentLessons } from "./read-comment-lessons.ts";

interface SettledJob {
  id: string;
  diff: Buffer | null;
  number: number;
  state: "merged" | "closed";
}

/**
 * A row of review_lessons. `words`: `by` instead of `replaced`; `rule`: `by` is a sentence that a reviewer wrote;
 * `refused`: people closed a pull request that changes `path`.
 */
interface Row {
  kind: "words" | "rule" | "refused";
  path: string;
  replaced: string;
  by: string;
  next: string;
}

const jobsMax = 20;
/** A pull request of more files was not closed for one of them. */
const refusedPathsMax = 20;

/** Reads each merged or closed pull request of jobs once. */
export async function readLessons(
  pool: Pool,
  projectId: string,
  far: { readPage(path: string): Promise<string | null>; conversation: Conversation | null },
  signal: AbortSignal,
): Promise<void> {
  const { rows: jobs } = await pool.query<SettledJob>(
    `select id, diff, (pull_request ->> 'number')::int as number, pull_request ->> 'state' as state from jobs
     where project_id = $1 and not lessons_read and pull_request ->> 'state' in ('merged', 'closed') order by id limit $2`,
    [projectId, jobsMax],
  );
  for (const job of jobs) {
    const patch = await patchOf(job);
    const rows = [
      ...(job.state === "merged" ? wordsOf(await findLessons(patch, far.readPage)) : refusedBy(patch)),
      ...(far.conversation ? await saidOn(job.number, patch, far.conversation, signal) : []),
    ];
    await inTransaction(pool, async (client) => {
      const { rowCount } = await client.query(
        `update jobs set lessons_read = true where id = $1 and not lessons_read and pull_request ->> 'state' = $2`,
        [job.id, job.state],
      );
      if (rowCount !== 1) return;
      for (const { kind, path, replaced, by, next } of rows) {
        await client.query(
          `insert into review_lessons (project_id, job_id, kind, path, replaced, by_text, next_word)
           values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
          [projectId, job.id, kind, path, replaced, by, next],
        );
      }
    });
  }
}

export async function patchOf({ diff }: { diff: Buffer | null }): Promise<string> {
  return diff === null ? "" : (await promisify(inflate)(diff)).toString("utf8");
}

const wordsOf = (lessons: readonly Omit<Row, "kind">[]): readonly Row[] =>
  lessons.map((lesson) => ({ kind: "words", ...lesson }));

function refusedBy(patch: string): readonly Row[] {
  const paths = diffFiles(patch).map(({ path }) => path);
  if (paths.length > refusedPathsMax) return [];
  return paths.map((path) => ({ kind: "refused", path, replaced: "", by: path, next: "" }));
}

/** What people who may write said on it. */
async function saidOn(
  number: number,
  patch: string,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  const access = new Map<string, boolean>();
  for (const comment of await commentsOn(number, conversation, signal)) {
    const { wordings, rules, suggested } = readCommentLessons(comment.text);
    const path = comment.path ?? "";
    const found: readonly Row[] = [
      ...wordings.map((words) => ({ kind: "words" as const, path, ...words })),
      ...rules.map((by) => ({ kind: "rule" as const, path, replaced: "", by, next: "" })),
      // As if people had changed the page so.
      ...wordsOf(suggested === "" ? [] : await findLessons(patch, async (of) => (of === path ? suggested : null))),
    ];
    if (found.length === 0 || !isOfPerson(comment)) continue;
    const { author } = comment;
    if (!access.has(author)) access.set(author, (await conversation.mayWrite(author, signal)) === "yes");
    if (access.get(author)) rows.push(...found);
  }
  return rows;
}

async function commentsOn(
  number: number,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<readonly PullRequestComment[]> {
  try {
    const comments = await conversation.listComments(number, signal);
    return comments.flatMap((comment) => [comment, ...(comment.lines ?? [])]);
  } catch (error) {
    // For example because the pull request is gone. It is not read again.
    if (isAppError(error, "forge_rejected") && !error.retryable) return [];
    throw error;
  }
}
