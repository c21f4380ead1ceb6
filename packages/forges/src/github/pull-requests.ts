import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { createMsMax, listPages, PageUrl, PullNumber } from "../api-client.ts";
import { refusalOf, wordsOf } from "../api-refusal.ts";
import type {
  CommitStatus,
  Conversation,
  CreateOutcome,
  OpenPullRequest,
  PullRequest,
  PullRequestComment,
  PullRequestCommits,
  PullRequestDraft,
  PullRequestSearch,
} from "../forge.ts";
import { pullRequestCalls, replyInThread, withReviews } from "../pull-request-calls.ts";
import type { GithubRepository } from "./github-token.ts";

const User = Type.Union([Type.Object({ login: Type.String() }), Type.Null()]);
const Remark = Type.Object({
  id: Type.Number(),
  user: User,
  body: Type.Optional(Type.String()),
  created_at: Type.String(),
});
const LineComment = Type.Object({
  id: Type.Number(),
  user: User,
  body: Type.String(),
  created_at: Type.String(),
  path: Type.String(),
  pull_request_review_id: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  in_reply_to_id: Type.Optional(Type.Integer()),
  line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  original_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  side: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const Review = Type.Object({
  id: Type.Integer(),
  user: User,
  body: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  state: Type.String(),
  submitted_at: Type.Optional(Type.String()),
});
const pagesMax = 10;
const writers: readonly string[] = ["admin", "maintain", "write"];

/** Submitted reviews only. Others cannot see a pending one. */
export async function listReviews(
  { api, path }: Pick<GithubRepository, "api" | "path">,
  number: number,
  signal: AbortSignal,
): Promise<readonly Static<typeof Review>[]> {
  const reviewsPath = `${path}/pulls/${number}/reviews`;
  const request = {
    path: reviewsPath,
    item: Review,
    sizeName: "per_page",
    pageSize: 100,
    newest: true,
    what: "read reviews",
  } as const;
  const reviews = await listPages(api, request, pagesMax, signal);
  return reviews.filter(({ state }) => state !== "PENDING");
}

export function openConversation({ api, path }: GithubRepository): Conversation {
  return {
    async listComments(number, signal) {
      const page = { sizeName: "per_page", pageSize: 100, newest: true } as const;
      const remarksPath = `${path}/issues/${number}/comments`;
      const remarks = await listPages(
        api,
        { ...page, path: remarksPath, item: Remark, what: "read comments" },
        pagesMax,
        signal,
      );
      const linesPath = `${path}/pulls/${number}/comments`;
      const lines = await listPages(
        api,
        { ...page, path: linesPath, item: LineComment, what: "read review comments" },
        pagesMax,
        signal,
      );
      const reviews = await listReviews({ api, path }, number, signal);
      return withReviews(
        remarks.map((found) => ({ ...toRemark("c", found), at: found.created_at })),
        reviews.map((found) => ({
          ...toRemark("v", { ...found, body: found.body ?? "" }),
          at: found.submitted_at ?? "",
          ...(found.state === "CHANGES_REQUESTED" && { requestsChanges: true }),
          lines: lines.filter((line) => line.pull_request_review_id === found.id).map(toLine),
        })),
        lines
          .filter((line) => !reviews.some(({ id }) => id === line.pull_request_review_id))
          .map((line) => ({ ...toLine(line), at: line.created_at })),
      );
    },
    async mayWrite(author, signal) {
      const outcome = await api.ask(
        {
          method: "GET",
          path: `${path}/collaborators/${encodeURIComponent(author)}/permission`,
          answer: Type.Object({ permission: Type.String(), role_name: Type.Optional(Type.String()) }),
          what: "read a person's permissions",
        },
        [404],
        signal,
      );
      return outcome.kind === "ok" && writers.includes(outcome.value.permission) ? "yes" : "no";
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Remark }, signal);
    },
    reply: (number, comment, text, signal) => replyInThread({ api, path }, number, { comment, text }, signal),
  };
}

/** Comments, reviews and line comments have separate id series. */
function toRemark(kind: string, found: { id: number; user: Static<typeof User>; body?: string }): PullRequestComment {
  return { id: `${kind}${found.id}`, author: found.user?.login ?? "", text: found.body ?? "", path: null, line: null };
}

function toLine(found: Static<typeof LineComment>): PullRequestComment {
  const line = found.line ?? found.original_line ?? null;
  const place = { path: found.path, line, ...(found.side === "LEFT" && { isRemovedLine: true }) };
  return { ...toRemark("r", found), ...place, ...(found.in_reply_to_id && { thread: `r${found.in_reply_to_id}` }) };
}

const Repository = Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]);
const GithubPullRequest = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  state: Type.String(),
  draft: Type.Optional(Type.Boolean()),
  created_at: Type.String(),
  merged_at: Type.Union([Type.String(), Type.Null()]),
  /** Only where one pull request is read. */
  mergeable_state: Type.Optional(Type.String()),
  body: Type.Union([Type.String(), Type.Null()]),
  head: Type.Object({ ref: Type.String(), sha: Type.Optional(Type.String()), repo: Type.Optional(Repository) }),
  base: Type.Object({ ref: Type.String(), repo: Type.Optional(Repository) }),
});

export async function findPullRequests(
  repository: GithubRepository,
  { head, since }: PullRequestSearch,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  const { api, owner, path } = repository;
  const listed = await listPages(
    api,
    {
      path: `${path}/pulls`,
      query: { head: `${owner}:${head}`, state: "all", sort: "created", direction: "desc" },
      item: GithubPullRequest,
      sizeName: "per_page",
      pageSize: 100,
      what: "list pull requests",
      ...(since && { isLast: (found: { created_at: string }) => Date.parse(found.created_at) < since.getTime() }),
    },
    pagesMax,
    signal,
  );
  // A server may ignore an unknown filter, and a fork of the same owner may have such a branch too.
  return listed.filter((found) => found.head.ref === head && isOfThisRepository(found)).map(toPullRequest);
}

function isOfThisRepository({ head, base }: Static<typeof GithubPullRequest>): boolean {
  return !head.repo || !base.repo || head.repo.id === base.repo.id;
}

export async function createPullRequest(
  repository: GithubRepository,
  draft: PullRequestDraft,
  signal: AbortSignal,
): Promise<CreateOutcome> {
  const { title, head, base, body } = draft;
  const what = "open a pull request";
  const outcome = await repository.api.ask(
    {
      method: "POST",
      path: `${repository.path}/pulls`,
      body: { title, head, base, body, draft: draft.draft },
      answer: GithubPullRequest,
      what,
      answerMsMax: createMsMax,
    },
    [422],
    signal,
  );
  if (outcome.kind === "ok") return { kind: "created", pullRequest: toPullRequest(outcome.value) };
  // GitHub answers 422 for many reasons; only its message tells them apart.
  const words = wordsOf(outcome.body);
  if (/pull request already exists/i.test(words)) return { kind: "exists" };
  if (draft.draft && /draft pull requests are not supported/i.test(words)) return { kind: "drafts_unsupported" };
  const { status, body: refusal } = outcome;
  // Right after a push, GitHub may not know the branch yet.
  throw refusalOf("GitHub", { status, headers: new Headers(), body: refusal }, what, {
    mayPass: isHeadUnknown(refusal),
  });
}

const HeadUnknown = Type.Object({
  errors: Type.Array(Type.Object({ field: Type.Optional(Type.String()), code: Type.Optional(Type.String()) })),
});

function isHeadUnknown(body: unknown): boolean {
  return (
    Value.Check(HeadUnknown, body) && body.errors.some(({ field, code }) => field === "head" && code === "invalid")
  );
}

export const { readPullRequest, updatePullRequest, closePullRequest } = pullRequestCalls(
  GithubPullRequest,
  toPullRequest,
);

function toPullRequest(found: Static<typeof GithubPullRequest>): PullRequest {
  return {
    number: found.number,
    url: found.html_url,
    state: found.merged_at !== null ? "merged" : found.state === "open" ? "open" : "closed",
    draft: found.draft ?? false,
    head: found.head.ref,
    base: found.base.ref,
    body: found.body ?? "",
    ...(found.head.sha !== undefined && { headCommit: found.head.sha }),
    ...(found.mergeable_state === "dirty" && { hasConflicts: true }),
  };
}

const OptionalRepository = Type.Optional(Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]));
const Branch = Type.Object({ ref: Type.String(), sha: Type.String(), repo: OptionalRepository });
const OpenPull = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  title: Type.String(),
  body: Type.Union([Type.String(), Type.Null()]),
  head: Branch,
  base: Branch,
});
const statusPagesMax = 3;
const wordsMax = 140;

export async function listOpenPullRequests(
  { api, path }: GithubRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${path}/pulls`,
    query: { state: "open", sort: "updated", direction: "desc" },
    item: OpenPull,
    sizeName: "per_page",
    pageSize: 100,
    what: "list pull requests",
  } as const;
  return (await listPages(api, request, statusPagesMax, signal)).map(toOpenPull);
}

function toOpenPull({ number, html_url: url, title, body, head, base }: Static<typeof OpenPull>): OpenPullRequest {
  // A fork that was deleted is null.
  const isFork = head.repo === null || (head.repo !== undefined && head.repo.id !== base.repo?.id);
  return { number, url, title, body: body ?? "", head: head.ref, base: base.ref, headCommit: head.sha, isFork };
}

export async function readPullRequestCommits(
  { api, path }: GithubRepository,
  { base, headCommit }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const outcome = await api.ask(
    {
      method: "GET",
      path: `${path}/compare/${encodeURIComponent(base)}...${headCommit}`,
      // The first page has the files with their patches, which nobody reads here.
      query: { per_page: 1, page: 2 },
      answer: Type.Object({ merge_base_commit: Type.Object({ sha: Type.String() }) }),
      what: "compare commits",
    },
    [404, 422],
    signal,
  );
  return outcome.kind === "ok" ? { head: headCommit, base: outcome.value.merge_base_commit.sha } : null;
}

/** GitHub's statuses have no word for neutral: it is a success that says in its words what was found. */
const states = { pending: "pending", passed: "success", neutral: "success", failed: "failure" } as const;

export async function setStatus(
  { api, path }: GithubRepository,
  { commit, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<null> {
  const body = { state: states[state], context: name, description: words.slice(0, wordsMax), target_url: url };
  const request = { path: `${path}/statuses/${commit}`, body, answer: Type.Object({}), what: "set a commit status" };
  await api.call({ ...request, method: "POST" }, signal);
  return null;
}
