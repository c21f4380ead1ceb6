import { fenced } from "@emend/base/markdown.ts";
import { parsePatch } from "@emend/contract";
import type { Pool, Queryable } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { newId } from "../../lib/id.ts";
import { ask, type Repository } from "./repository.ts";

/** A conversation about lines of a pull request, perhaps with a text that should replace them. */
export interface ReviewThread {
  id: string;
  side: "before" | "after";
  path: string;
  firstLine: number;
  lastLine: number;
  /** The commit of these lines: of the head, or of the base if they are removed ones. */
  commit: string;
  /** The head that the author saw. */
  headCommit: string;
  quoted: string;
  suggestion: string | null;
  appliedCommit: string | null;
  resolvedBy: string | null;
  /** Oldest first. `mayAsk`: the author may write now, so that Emend can act on it. */
  comments: readonly { id: string; author: string; body: string; at: string; mayAsk: boolean }[];
}

export interface NewThread extends Pick<ReviewThread, "side" | "path" | "firstLine" | "lastLine" | "suggestion"> {
  author: string;
  text: string;
}

const threadsMax = 500;
const commentsMax = 100;
/** Each is compared with the current commit by one git process. */
const commitsMax = 20;

export async function listThreads(db: Queryable, projectId: string, number: number): Promise<readonly ReviewThread[]> {
  const { rows } = await db.query<ReviewThread>(
    `select id, side, path, first_line as "firstLine", last_line as "lastLine", commit_id as commit,
       head_commit as "headCommit", quoted, suggestion, applied_commit as "appliedCommit", resolved_by as "resolvedBy",
       (select jsonb_agg(jsonb_build_object('id', comment.id, 'author', author, 'body', body, 'at', wire_time(comment.created_at),
          'mayAsk', author = 'console' or exists (
            select from users where lower(email) = lower(author) and role <> 'viewer')) order by comment.created_at, comment.id)
        from review_comments comment where thread_id = thread.id) as comments
     from review_threads thread where project_id = $1 and number = $2 order by created_at, id limit $3`,
    [projectId, number, threadsMax],
  );
  return rows;
}

/** False if there are too many already. */
export async function insertThread(
  pool: Pool,
  name: { projectId: string; number: number },
  thread: NewThread & Pick<ReviewThread, "commit" | "headCommit" | "quoted">,
): Promise<boolean> {
  const id = newId("thr");
  return inTransaction(pool, async (client) => {
    // Of concurrent ones, each sees those before it.
    await client.query("select from local_pull_requests where project_id = $1 and number = $2 for no key update", [
      name.projectId,
      name.number,
    ]);
    const { rowCount } = await client.query(
      `insert into review_threads (id, project_id, number, side, path, first_line, last_line, commit_id, head_commit,
         quoted, suggestion)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11
       where (select count(*) from review_threads where project_id = $2 and number = $3) < ${threadsMax}`,
      [
        id,
        name.projectId,
        name.number,
        thread.side,
        thread.path,
        thread.firstLine,
        thread.lastLine,
        thread.commit,
        thread.headCommit,
        thread.quoted,
        thread.suggestion,
      ],
    );
    if (rowCount === 0) return false;
    return insertReply(client, id, thread);
  });
}

/** False if the thread has too many already. */
export async function insertReply(
  db: Queryable,
  threadId: string,
  { author, text }: { author: string; text: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `insert into review_comments (id, thread_id, author, body) select $1, $2, $3, $4
     where (select count(*) from review_comments where thread_id = $2) < ${commentsMax}`,
    [newId("cmt"), threadId, author, text],
  );
  return rowCount === 1;
}

export async function markResolved(
  db: Queryable,
  threadId: string,
  { by, appliedCommit = null }: { by: string | null; appliedCommit?: string | null },
): Promise<void> {
  await db.query(
    "update review_threads set resolved_by = $2, applied_commit = coalesce(applied_commit, $3) where id = $1",
    [threadId, by, appliedCommit],
  );
}

export interface Lines {
  firstLine: number;
  lastLine: number;
}

/** Finds where the lines of threads are now. A thread that is not in the map is outdated: its lines changed. */
export async function placeThreads(
  repository: Repository,
  threads: readonly ReviewThread[],
  now: { base: string; head: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Lines>> {
  const places = new Map<string, Lines>();
  const currentOf = ({ side }: ReviewThread) => (side === "after" ? now.head : now.base);
  const groups = Map.groupBy(threads, (thread) => `${thread.commit} ${currentOf(thread)}`);
  for (const group of [...groups.values()].slice(-commitsMax)) {
    const [first] = group;
    if (!first) continue;
    const hunks = await readHunks(repository, { from: first.commit, to: currentOf(first) }, signal);
    for (const thread of group) {
      const place = hunks && shiftLines(thread, hunks.get(thread.path) ?? []);
      if (place) places.set(thread.id, place);
    }
  }
  return places;
}

interface Hunk {
  start: number;
  deleted: number;
  added: number;
}

/** What changed in each file, without context. Null if a commit is gone. */
async function readHunks(
  repository: Repository,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly Hunk[]> | null> {
  if (from === to) return new Map();
  const options = ["-r", "--no-renames", "--unified=0", "--patch", "--no-color", "--no-ext-diff", "--no-textconv"];
  const { code, output } = await ask(repository, ["diff-tree", ...options, from, to, "--"], signal);
  if (code !== 0) return null;
  return new Map(
    parsePatch(output).map(({ path, lines }) => [
      path,
      lines.flatMap(({ kind, text }) => {
        const found = kind === "hunk" && /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))?/.exec(text);
        if (!found) return [];
        const [, start = "0", deleted = "1", added = "1"] = found;
        return [{ start: Number(start), deleted: Number(deleted), added: Number(added) }];
      }),
    ]),
  );
}

/** Null if one of the lines changed, or something came between them. */
function shiftLines({ firstLine, lastLine }: Lines, hunks: readonly Hunk[]): Lines | null {
  let shift = 0;
  for (const { start, deleted, added } of hunks) {
    // Without deleted lines, the hunk comes after its start.
    const [from, to] = deleted === 0 ? [start + 1, start] : [start, start + deleted - 1];
    if (from > lastLine) continue;
    if (to >= firstLine) return null;
    shift += added - deleted;
  }
  return { firstLine: firstLine + shift, lastLine: lastLine + shift };
}

const quotedLinesMax = 20;

/**
 * The open comments as one request to Emend. Each is quoted as what a person said about lines. Comments by people who
 * can no longer write are left out. Null if there is none.
 */
export function requestOf(threads: readonly ReviewThread[], places: ReadonlyMap<string, Lines>): string | null {
  const parts = threads.flatMap((thread) => {
    const said = thread.comments.filter(({ mayAsk, body }) => mayAsk && body.trim() !== "");
    if (thread.resolvedBy !== null || (said.length === 0 && thread.suggestion === null)) return [];
    const place = places.get(thread.id);
    const { firstLine, lastLine } = place ?? thread;
    const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine} to ${lastLine}`;
    const where =
      place === undefined ? "lines that changed since" : thread.side === "before" ? `removed ${lines}` : lines;
    return [
      `In ${thread.path}, ${where}:`,
      fenced("the lines", thread.quoted.split("\n").slice(0, quotedLinesMax)).trim(),
      ...said.map(({ author, body }) => `${author} says: ${body.trim()}`),
      ...(thread.suggestion === null ? [] : ["Suggested text:", fenced("the suggestion", [thread.suggestion]).trim()]),
    ].join("\n");
  });
  if (parts.length === 0) return null;
  return `Address these review comments on the pull request. Each is about the lines it names.\n\n${parts.join("\n\n")}`;
}
