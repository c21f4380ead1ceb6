import type { DashboardThread } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import { hideMarks, type PullName } from "./pull-desk.ts";
import { getPullRequest, type LocalPullRequest, refreshLocalPullRequest } from "./pull-requests.ts";
import { readFileAt } from "./read-diff.ts";
import { type LocalForgeDeps, repositoryOf } from "./repository.ts";
import {
  insertReply,
  insertThread,
  type Lines,
  listThreads,
  markResolved,
  type NewThread,
  placeThreads,
  type ReviewThread,
  requestOf,
} from "./review-threads.ts";

type ReviewOutcome = { kind: "done" } | { kind: "refused"; reason: string } | { kind: "not_found" };

/** A file of a pull request's branch with other text, to be reviewed and committed. */
interface Edit extends PullName {
  branch: string;
  head: string;
  path: string;
  text: string;
  message: string;
  author: { name: string; email: string };
}

interface ReviewDeskDeps extends LocalForgeDeps {
  signal: AbortSignal;
  commitEdit(edit: Edit, signal: AbortSignal): Promise<{ kind: "committed"; commit: string } | Refused>;
}

type Refused = { kind: "refused"; reason: string };

/** What people do on the lines of the local forge's pull requests. The caller has checked their permission. */
interface ReviewDesk {
  list(name: PullName): Promise<readonly DashboardThread[]>;
  /** The open comments as a request to Emend. Null if there are none. */
  request(name: PullName): Promise<string | null>;
  comment(name: PullName, input: NewThread & { head: string }): Promise<ReviewOutcome>;
  reply(name: PullName, threadId: string, input: { author: string; text: string }): Promise<ReviewOutcome>;
  /** `by` null: opens it again. */
  resolve(name: PullName, threadId: string, by: string | null): Promise<ReviewOutcome>;
  applySuggestion(name: PullName, threadId: string, input: { head: string; by: string }): Promise<ReviewOutcome>;
  edit(
    name: PullName,
    input: { head: string; path: string; text: string; message: string; by: string },
  ): Promise<ReviewOutcome>;
}

const linesMax = 200;
const notFound: ReviewOutcome = { kind: "not_found" };
const done: ReviewOutcome = { kind: "done" };
const moved = "The branch changed since you opened this page. Reload it to see the new commits, then try again.";

export function createReviewDesk(deps: ReviewDeskDeps): ReviewDesk {
  const { pool: db, signal } = deps;

  /** In its current state: somebody may have pushed. */
  async function find({ projectId, number }: PullName): Promise<LocalPullRequest | null> {
    const stored = await getPullRequest(db, projectId, number);
    if (stored?.state !== "open") return stored;
    await refreshLocalPullRequest({ db, repository: repositoryOf(deps, projectId) }, projectId, stored, signal);
    return getPullRequest(db, projectId, number);
  }

  async function placed(name: PullName, threads: readonly ReviewThread[]) {
    const pull = await getPullRequest(db, name.projectId, name.number);
    if (!pull || threads.length === 0) return new Map<string, never>();
    const now = { base: pull.baseCommit, head: pull.headCommit };
    return placeThreads(repositoryOf(deps, name.projectId), threads, now, signal);
  }

  async function findThread(name: PullName, threadId: string): Promise<ReviewThread | null> {
    const threads = await listThreads(db, name.projectId, name.number);
    return threads.find(({ id }) => id === threadId) ?? null;
  }

  async function commit(
    name: PullName,
    input: { head: string; path: string; text: string; message: string; by: string },
  ): Promise<{ kind: "committed"; commit: string } | Refused | { kind: "not_found" }> {
    const pull = await find(name);
    if (!pull) return { kind: "not_found" };
    if (pull.state !== "open") return refuse(`This pull request is ${pull.state}, so its branch is not changed.`);
    if (pull.headCommit !== input.head) return refuse(moved);
    const { by, ...edit } = input;
    const outcome = await deps.commitEdit(
      { ...name, ...edit, branch: pull.headRef, author: await authorOf(db, by) },
      signal,
    );
    await find(name);
    return outcome;
  }

  return {
    async list(name) {
      const threads = await listThreads(db, name.projectId, name.number);
      const places = await placed(name, threads);
      return threads.map((thread) => showThread(thread, places.get(thread.id)));
    },

    async request(name) {
      const threads = await listThreads(db, name.projectId, name.number);
      return requestOf(threads, await placed(name, threads));
    },

    async comment(name, { head, ...thread }) {
      const pull = await find(name);
      if (!pull) return notFound;
      if (pull.headCommit !== head) return refuse(moved);
      const { side, path, firstLine, lastLine } = thread;
      if (thread.suggestion !== null && side === "before") return refuse("Removed lines cannot be replaced.");
      if (thread.suggestion !== null && pull.state !== "open") return refuse(`This pull request is ${pull.state}.`);
      if (lastLine < firstLine || lastLine - firstLine >= linesMax) {
        return refuse(`A comment is about 1 to ${linesMax} lines.`);
      }
      const commit = side === "after" ? pull.headCommit : pull.baseCommit;
      const text = await readFileAt(repositoryOf(deps, name.projectId), commit, path, signal);
      const lines = text === null ? [] : linesOf(text);
      if (lastLine > lines.length) return refuse(`${path} has no line ${lastLine}.`);
      const quoted = lines.slice(firstLine - 1, lastLine).join("\n");
      const isKept = await insertThread(deps.pool, name, { ...thread, commit, headCommit: head, quoted });
      return isKept ? done : refuse("This pull request has too many comments on lines.");
    },

    async reply(name, threadId, input) {
      if (!(await findThread(name, threadId))) return notFound;
      return (await insertReply(db, threadId, input)) ? done : refuse("This conversation has too many comments.");
    },

    async resolve(name, threadId, by) {
      if (!(await findThread(name, threadId))) return notFound;
      await markResolved(db, threadId, { by });
      return done;
    },

    async applySuggestion(name, threadId, { head, by }) {
      const thread = await findThread(name, threadId);
      if (thread?.suggestion == null) return notFound;
      if (thread.appliedCommit !== null) return refuse("This suggestion was applied already.");
      await find(name);
      const place = (await placed(name, [thread])).get(threadId);
      const text = await readFileAt(repositoryOf(deps, name.projectId), head, thread.path, signal);
      const lines = text === null ? [] : linesOf(text);
      if (!place || lines.slice(place.firstLine - 1, place.lastLine).join("\n") !== thread.quoted) {
        return refuse("The lines changed since this was suggested. Suggest it again on the current lines.");
      }
      const replaced = replaceLines(text ?? "", place, thread.suggestion);
      const outcome = await commit(name, {
        head,
        path: thread.path,
        text: replaced,
        message: await suggestionMessage(db, thread, by),
        by,
      });
      if (outcome.kind !== "committed") return outcome;
      await markResolved(db, threadId, { by, appliedCommit: outcome.commit });
      return done;
    },

    async edit(name, input) {
      const outcome = await commit(name, input);
      return outcome.kind === "committed" ? done : outcome;
    },
  };
}

function showThread(thread: ReviewThread, place: Lines | undefined): DashboardThread {
  const { id, side, path, headCommit, quoted, suggestion, appliedCommit, resolvedBy } = thread;
  const { firstLine, lastLine } = place ?? thread;
  return {
    id,
    side,
    path,
    firstLine,
    lastLine,
    isOutdated: place === undefined,
    headCommit,
    quoted,
    suggestion,
    appliedCommit,
    resolvedBy,
    comments: thread.comments.map(({ id, author, body, at }) => ({ id, author, text: hideMarks(body), at })),
  };
}

/** Without their line ends, as a diff shows them. */
function linesOf(text: string): readonly string[] {
  const lines = text.split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}

/** An empty suggestion removes the lines. Its line ends become those of the lines that it replaces. */
function replaceLines(
  text: string,
  { firstLine, lastLine }: { firstLine: number; lastLine: number },
  suggestion: string,
): string {
  const lines = text.split("\n");
  const end = lines[firstLine - 1]?.endsWith("\r") ? "\r" : "";
  const given = suggestion.replaceAll("\r", "").split("\n");
  lines.splice(firstLine - 1, lastLine - firstLine + 1, ...(suggestion === "" ? [] : given.map((line) => line + end)));
  return lines.join("\n");
}

/** Somebody who logged in with a console link has no account. */
const nobody = { name: "Emend", email: "noreply@emend.invalid" };

export async function authorOf(db: Queryable, subject: string): Promise<{ name: string; email: string }> {
  const { rows } = await db.query<{ name: string; email: string }>(
    "select name, email from users where lower(email) = lower($1)",
    [subject],
  );
  return rows[0] ?? nobody;
}

/** Whoever applies it is the author. Whoever wrote it is named too. */
async function suggestionMessage(db: Queryable, thread: ReviewThread, by: string): Promise<string> {
  const subject = `Apply a suggestion to ${thread.path}`;
  const writer = thread.comments[0]?.author ?? by;
  if (writer === by) return subject;
  const { name, email } = await authorOf(db, writer);
  return `${subject}\n\nCo-authored-by: ${name.replace(/[<>\n]/g, "")} <${email}>`;
}

function refuse(reason: string): Refused {
  return { kind: "refused", reason };
}
