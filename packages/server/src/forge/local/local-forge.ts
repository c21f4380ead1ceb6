import { pathToFileURL } from "node:url";
import {
  type CreateOutcome,
  type Forge,
  mention,
  type PullRequest,
  type PullRequestComment,
  type PullRequestDraft,
  type PullRequestSearch,
} from "@emend/forges";
import type { Queryable } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { readDefaultBranch } from "./create-repository.ts";
import { mergePullRequest } from "./pull-desk.ts";
import {
  getPullRequest,
  insertComment,
  insertPullRequest,
  keepHead,
  type LocalComment,
  type LocalPullRequest,
  listComments,
  listOpen,
  listPullRequestsOfHead,
  listStatuses,
  markClosed,
  refreshOpenPullRequests,
  saveChange,
  saveStatus,
} from "./pull-requests.ts";
import { compareBranches } from "./read-diff.ts";
import { type LocalForgeDeps, repositoryOf } from "./repository.ts";
import { insertReply, listThreads, type ReviewThread } from "./review-threads.ts";

/**
 * The built-in forge. Workers access its repositories as folders, not over HTTP: the folder is on this machine or
 * declared shared (see assert-usable). So a worker needs no credential, no open port and no running API process.
 */
export function openLocalForge(deps: LocalForgeDeps, projectId: string): Forge {
  const repository = repositoryOf(deps, projectId);
  const toPullRequest = (row: LocalPullRequest) => ({
    number: row.number,
    url: `${deps.publicUrl()}/forge/${projectId}/pull/${row.number}`,
    state: row.state,
    draft: row.draft,
    head: row.headRef,
    base: row.baseRef,
    body: row.body,
    headCommit: row.headCommit,
  });

  async function findPullRequests({ head }: PullRequestSearch): Promise<readonly PullRequest[]> {
    return (await listPullRequestsOfHead(deps.pool, projectId, head)).map(toPullRequest);
  }

  async function createPullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<CreateOutcome> {
    const compared = await compareBranches(repository, draft, signal);
    if (!compared) throw refusal("one of its branches does not exist");
    const { head, mergeBase } = compared;
    if (mergeBase === null) throw refusal("its branches have no commit in common");
    if (mergeBase === head) throw refusal("its branch has no commits that the base branch lacks");
    signal.throwIfAborted();
    const row = await inTransaction(deps.pool, (client) =>
      insertPullRequest(client, projectId, draft, { base: mergeBase, head }),
    );
    if (!row) return { kind: "exists" };
    await keepHead(repository, row.number, head, signal);
    return { kind: "created", pullRequest: toPullRequest(row) };
  }

  return {
    name: "local",
    credentialId: `local:${projectId}`,
    showsChecks: true,
    commits: null,
    inspect: null,
    findAddress: null,
    gitRemote: async () => ({ url: pathToFileURL(repository.gitDir).href, authorization: null }),
    findPullRequests,
    createPullRequest,
    // A unique index allows one open pull request of a branch.
    effectSecondsMax: 0,
    closePullRequest: (number) => markClosed(deps.pool, projectId, number),
    async mergePullRequest({ number, commit: headExpected }, signal) {
      const request = { projectId, number, headExpected, by: "Emend" };
      const outcome = await mergePullRequest({ db: deps.pool, repository }, request, signal);
      if (outcome.kind === "merged") return outcome;
      return { kind: "refused", words: outcome.kind === "refused" ? outcome.reason : "it no longer exists" };
    },
    pullRef: (number) => `refs/pull/${number}/head`,
    ensureDetails: null,
    async readPullRequest(number) {
      const row = await getPullRequest(deps.pool, projectId, number);
      return row && toPullRequest(row);
    },
    async listOpenPullRequests(signal) {
      await refreshOpenPullRequests({ db: deps.pool, repository }, projectId, signal);
      return (await listOpen(deps.pool, projectId)).map((row) => ({
        ...toPullRequest(row),
        title: row.title,
        headCommit: row.headCommit,
        isFork: false,
      }));
    },
    async readPullRequestCommits({ number }) {
      const row = await getPullRequest(deps.pool, projectId, number);
      return row && { head: row.headCommit, base: row.baseCommit };
    },
    async setStatus(status) {
      await saveStatus(deps.pool, projectId, status);
      return null;
    },
    checks: {
      async report({ commit }) {
        const statuses = await listStatuses(deps.pool, projectId, commit);
        return {
          checks: statuses.map(({ name, state, words, log }) => ({
            name,
            state: state === "neutral" ? ("passed" as const) : state,
            words,
            log: log === null ? null : name,
          })),
          isWhole: true,
        };
      },
      async readLog({ commit, log: name }) {
        const statuses = await listStatuses(deps.pool, projectId, commit);
        return statuses.find((status) => status.name === name)?.log ?? null;
      },
    },
    updatePullRequest: (number, change) => saveChange(deps.pool, projectId, number, change),
    describeRepository: async (signal) => ({
      path: projectId,
      defaultBranch: await readDefaultBranch(repository, signal),
      archived: false,
      mayPush: true,
      mayOpenPullRequests: true,
    }),
    conversation: {
      async listComments(number) {
        const whole = await listComments(deps.pool, projectId, number);
        const threads = await listThreads(deps.pool, projectId, number);
        const lines = threads.flatMap((thread) => thread.comments.map((_, index) => toLine(thread, index)));
        return [...whole.map((comment) => toRemark(comment, threads)), ...lines];
      },
      mayWrite: async (author) => ((await mayWrite(deps.pool, author)) ? "yes" : "no"),
      comment: (number, text) => insertComment(deps.pool, { projectId, number, author: "Emend", body: text }),
      async reply(number, comment, text) {
        const threads = await listThreads(deps.pool, projectId, number);
        const thread = threads.find(({ comments }) => comments.some(({ id }) => id === comment.id));
        return thread ? insertReply(deps.pool, thread.id, { author: "Emend", text }) : false;
      },
    },
    issues: null,
  };
}

/** A review that requests changes is about its author's open threads too, until Emend has answered them. */
function toRemark(
  { id, author, body, createdAt, requestsChanges }: LocalComment,
  threads: readonly ReviewThread[],
): PullRequestComment {
  const remark = { id, author, text: body, path: null, line: null };
  if (!requestsChanges) return remark;
  const own = threads.filter(({ comments: [first, ...more], resolvedBy }) => {
    const isAsked = first?.author === author && new Date(first.at) <= createdAt && !mention.test(first.body);
    return isAsked && resolvedBy === null && !more.some((reply) => reply.author === "Emend");
  });
  return { ...remark, requestsChanges: true, lines: own.map((thread) => toLine(thread, 0)) };
}

function toLine({ path, lastLine, side, suggestion, comments }: ReviewThread, index: number): PullRequestComment {
  const { id = "", author = "", body = "" } = comments[index] ?? {};
  const text = index === 0 && suggestion !== null ? `${body}\n\n${asBlock(suggestion)}` : body;
  return { id, author, text, path, line: lastLine, isRemovedLine: side === "before" };
}

/** As other forges write what should replace the lines. */
function asBlock(suggestion: string): string {
  const longest = Math.max(2, ...[...suggestion.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}suggestion\n${suggestion}\n${fence}`;
}

function refusal(why: string): AppError {
  return new AppError("forge_rejected", { publicMessage: `The local forge refuses this pull request: ${why}.` });
}

/** Whether a comment's author may write now. Somebody who was demoted or removed since cannot request anything. */
async function mayWrite(db: Queryable, author: string): Promise<boolean> {
  // Somebody who logged in with a console link may do everything.
  if (author === "console") return true;
  const { rowCount } = await db.query("select from users where lower(email) = lower($1) and role <> 'viewer'", [
    author,
  ]);
  return rowCount === 1;
}
