import { type Static, Type } from "typebox";
import { type ApiClient, createMsMax, isTooLong, listPages, PageUrl, PullNumber } from "../api-client.ts";
import type {
  Conversation,
  CreateOutcome,
  ForgeSettings,
  PullRequest,
  PullRequestComment,
  PullRequestDraft,
  PullRequestSearch,
  WriteAccess,
} from "../forge.ts";
import { pullRequestCalls, replyInThread, withReviews } from "../pull-request-calls.ts";

/** What all functions for a Gitea or Forgejo repository share. */
export interface GiteaRepository {
  api: ApiClient;
  settings: ForgeSettings;
  owner: string;
  /** `/repos/<owner>/<name>`. */
  path: string;
  /** Requested once. Null if the server does not say. */
  server(signal: AbortSignal): Promise<GiteaServer | null>;
}

export interface GiteaServer {
  name: "Gitea" | "Forgejo";
  version: string;
  isTooOld: boolean;
  /** Whether it can look up a pull request by base and head. */
  findsByBranches: boolean;
  /** Whether it can answer in the thread of a comment. */
  hasReplies: boolean;
}

const Branch = Type.Object({
  label: Type.String(),
  ref: Type.String(),
  sha: Type.Optional(Type.String()),
  repo_id: Type.Integer(),
});
const GiteaPullRequest = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  state: Type.String(),
  title: Type.String(),
  body: Type.String(),
  merged: Type.Boolean(),
  created_at: Type.String(),
  /** Releases before 1.23 do not have this field. */
  draft: Type.Optional(Type.Boolean()),
  head: Branch,
  base: Branch,
});

const draftPrefix = "WIP: ";
const draftTitle = /^\s*(wip:|\[wip\])/i;
const pageSize = 50;
const pagesMax = 200;

/**
 * No release can filter by head. From 1.22 on, Gitea finds one pull request by both branches: if it is open, that is
 * the one. Otherwise the newest are read until they are older than `since`.
 */
export async function findPullRequests(
  repository: GiteaRepository,
  { head, base, since }: PullRequestSearch,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  const { api, path } = repository;
  const met = base === undefined ? null : await findByBranches(repository, base, head, signal);
  if (met?.state === "open") return [met];
  const listed = await listPages(
    api,
    {
      path: `${path}/pulls`,
      query: { state: "all" },
      item: GiteaPullRequest,
      sizeName: "limit",
      pageSize,
      what: "list pull requests",
      ...(since && { isLast: (found: { created_at: string }) => Date.parse(found.created_at) < since.getTime() }),
    },
    pagesMax,
    signal,
  );
  return listed
    .filter((found) => branchOf(found.head) === head && isOfThisRepository(found))
    .map(toPullRequest)
    .sort((left, right) => right.number - left.number);
}

async function findByBranches(
  { api, path, server }: GiteaRepository,
  base: string,
  head: string,
  signal: AbortSignal,
): Promise<PullRequest | null> {
  // This URL cannot contain a base with a slash.
  if (base.includes("/") || !(await server(signal))?.findsByBranches) return null;
  const branches = [base, ...head.split("/")].map(encodeURIComponent).join("/");
  const request = { path: `${path}/pulls/${branches}`, answer: GiteaPullRequest, what: "find a pull request" };
  const outcome = await api.ask({ ...request, method: "GET" }, [404], signal);
  return outcome.kind === "ok" && isOfThisRepository(outcome.value) ? toPullRequest(outcome.value) : null;
}

/** `ref` changes when the branch is deleted; `label` stays. */
function branchOf(head: Static<typeof Branch>): string {
  return head.label || head.ref;
}

function isOfThisRepository({ head, base }: Static<typeof GiteaPullRequest>): boolean {
  return head.repo_id === base.repo_id;
}

export async function createPullRequest(
  { api, path }: GiteaRepository,
  draft: PullRequestDraft,
  signal: AbortSignal,
): Promise<CreateOutcome> {
  const { head, base, body } = draft;
  const outcome = await api.ask(
    {
      method: "POST",
      path: `${path}/pulls`,
      body: { head, base, body, title: draft.draft ? `${draftPrefix}${draft.title}` : draft.title },
      answer: GiteaPullRequest,
      what: "open a pull request",
      answerMsMax: createMsMax,
    },
    [409],
    signal,
  );
  return outcome.kind === "ok"
    ? { kind: "created", pullRequest: toPullRequest(outcome.value) }
    : // Its one conflict: the branch has an open pull request.
      { kind: "exists" };
}

export const { readPullRequest, updatePullRequest, closePullRequest } = pullRequestCalls(
  GiteaPullRequest,
  toPullRequest,
  draftPrefix,
);

function toPullRequest(found: Static<typeof GiteaPullRequest>): PullRequest {
  return {
    number: found.number,
    url: found.html_url,
    state: found.merged ? "merged" : found.state === "open" ? "open" : "closed",
    draft: found.draft ?? draftTitle.test(found.title),
    head: branchOf(found.head),
    base: branchOf(found.base),
    body: found.body,
    ...(found.head.sha !== undefined && { headCommit: found.head.sha }),
    // `mergeable` is false for drafts too, and while Gitea still compares the branches.
    ...(found.base.sha !== undefined && { baseCommit: found.base.sha }),
  };
}

const User = Type.Union([Type.Object({ login: Type.String() }), Type.Null()]);
const Remark = Type.Object({ id: Type.Integer(), user: User, body: Type.String(), created_at: Type.String() });
const LineComment = Type.Object({
  id: Type.Integer(),
  user: User,
  body: Type.String(),
  created_at: Type.String(),
  path: Type.String(),
  position: Type.Optional(Type.Integer()),
  /** For a removed line: its number in the old file. */
  original_position: Type.Optional(Type.Integer()),
});
const Review = Type.Object({
  id: Type.Integer(),
  user: Type.Optional(User),
  body: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  submitted_at: Type.Optional(Type.String()),
  comments_count: Type.Optional(Type.Integer()),
});
const Team = Type.Object({
  name: Type.String(),
  permission: Type.Optional(Type.String()),
  units_map: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
});
const commentPagesMax = 10;
const writers: readonly string[] = ["owner", "admin", "write"];

/** Submitted reviews only: no pending ones and no review requests. */
export async function listReviews({ api, path }: GiteaRepository, number: number, signal: AbortSignal) {
  const reviewsPath = `${path}/pulls/${number}/reviews`;
  const request = {
    path: reviewsPath,
    item: Review,
    sizeName: "limit",
    pageSize: 50,
    newest: true,
    what: "read reviews",
  } as const;
  const reviews = await listPages(api, request, commentPagesMax, signal);
  return reviews.filter(({ state }) => state !== "PENDING" && state !== "REQUEST_REVIEW");
}

export function openConversation(repository: GiteaRepository): Conversation {
  const { api, path } = repository;

  async function linesOf(number: number, review: Static<typeof Review>, signal: AbortSignal) {
    if (review.comments_count === 0) return [];
    const linesPath = `${path}/pulls/${number}/reviews/${review.id}/comments`;
    const answer = Type.Array(LineComment);
    const found = await api.call({ method: "GET", path: linesPath, answer, what: "read review comments" }, signal);
    // Gitea lists them in no order. Ids are in the order of writing.
    return found.toSorted((left, right) => left.id - right.id);
  }

  return {
    async listComments(number, signal) {
      const remarks = await listRemarks(repository, number, signal);
      const reviews = [];
      const replies = [];
      for (const review of await listReviews(repository, number, signal)) {
        const said = toRemark("v", { ...review, user: review.user ?? null, body: review.body ?? "" });
        const { own, others } = splitReplies(said.author, await linesOf(number, review, signal));
        const isRefusal = review.state === "REQUEST_CHANGES" && { requestsChanges: true as const };
        reviews.push({ ...said, ...isRefusal, at: review.submitted_at ?? "", lines: own.map(toLine) });
        replies.push(...others.map((line) => ({ ...toLine(line), at: line.created_at })));
      }
      const said = remarks.map((found) => ({ ...toRemark("c", found), at: found.created_at }));
      return withReviews(said, reviews, replies);
    },
    mayWrite: (author, signal) => mayWrite(repository, author, signal),
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Remark }, signal);
    },
    async reply(number, comment, text, signal) {
      if (!(await repository.server(signal))?.hasReplies) return false;
      return replyInThread(repository, number, { comment, text }, signal);
    },
  };
}

/**
 * Gitea keeps an answer in a thread with the review that began the thread, whoever wrote it. What counts as the
 * reviewer's own is the first comment on each line.
 */
function splitReplies(reviewer: string, lines: readonly Static<typeof LineComment>[]) {
  const begun = new Set<string>();
  const isOwn = ({ user, path, position, original_position: old }: Static<typeof LineComment>) => {
    const place = JSON.stringify([path, position, old]);
    const isFirst = !begun.has(place);
    begun.add(place);
    return isFirst && user?.login === reviewer;
  };
  const { own = [], others = [] } = Object.groupBy(lines, (line) => (isOwn(line) ? "own" : "others"));
  return { own, others };
}

/** Of a conversation that is too long for one answer, only the last days are read. */
const remarkDays = [null, 30, 3, 0.3];

/** Gitea has no pages here. */
async function listRemarks({ api, path }: GiteaRepository, number: number, signal: AbortSignal) {
  const request = { path: `${path}/issues/${number}/comments`, answer: Type.Array(Remark), what: "read comments" };
  let tooLong: unknown;
  for (const days of remarkDays) {
    const since = days === null ? [] : [new Date(Date.now() - days * 86_400_000).toISOString()];
    try {
      return await api.call({ ...request, method: "GET", query: { since } }, signal);
    } catch (error) {
      if (!isTooLong(error)) throw error;
      tooLong = error;
    }
  }
  throw tooLong;
}

/**
 * Gitea shows a person's permission only to administrators. But every reader can list an issue's possible assignees: in
 * a person's repository these are its writers; in an organization's, its writers and team members. So if every team may
 * write to the code, all assignees may write. Otherwise the permission is unknown.
 */
async function mayWrite({ api, path }: GiteaRepository, author: string, signal: AbortSignal): Promise<WriteAccess> {
  const what = "read a person's permissions";
  const permissionPath = `${path}/collaborators/${encodeURIComponent(author)}/permission`;
  const answer = Type.Object({ permission: Type.String() });
  const told = await api.ask({ method: "GET", path: permissionPath, answer, what }, [403, 404], signal);
  if (told.kind === "ok") return writers.includes(told.value.permission) ? "yes" : "no";
  if (told.status === 404) return "no";
  const people = Type.Array(Type.Object({ login: Type.String() }));
  const assignable = await api.call({ method: "GET", path: `${path}/assignees`, answer: people, what }, signal);
  if (!assignable.some(({ login }) => login.toLowerCase() === author.toLowerCase())) return "no";
  const readers = await teamsThatOnlyRead({ api, path }, signal);
  return readers.length === 0 ? "yes" : "unknown";
}

/** By name. Empty for a person's repository. */
export async function teamsThatOnlyRead(
  { api, path }: Pick<GiteaRepository, "api" | "path">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const request = { path: `${path}/teams`, answer: Type.Array(Team), what: "read the repository's teams" };
  const teams = await api.ask({ ...request, method: "GET" }, [405], signal);
  if (teams.kind !== "ok") return [];
  return teams.value.filter((team) => !writesCode(team)).map(({ name }) => name);
}

function writesCode({ permission, units_map: units }: Static<typeof Team>): boolean {
  return writers.includes(units?.["repo.code"] ?? permission ?? "");
}

/** Comments, reviews and line comments have separate id series. */
function toRemark(kind: string, found: { id: number; user: Static<typeof User>; body: string }): PullRequestComment {
  return { id: `${kind}${found.id}`, author: found.user?.login ?? "", text: found.body, path: null, line: null };
}

function toLine(found: Static<typeof LineComment>): PullRequestComment {
  const isRemovedLine = !found.position && Boolean(found.original_position);
  const line = (isRemovedLine ? found.original_position : found.position) ?? null;
  return { ...toRemark("r", found), path: found.path, line, ...(isRemovedLine && { isRemovedLine }) };
}
