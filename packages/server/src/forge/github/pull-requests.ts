import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import { refusalOf, wordsOf } from "../api-refusal.ts";
import type { CreateOutcome, PullRequest, PullRequestDraft, PullRequestSearch } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import { pullRequestCalls } from "../pull-request-calls.ts";
import type { GithubRepository } from "./github-token.ts";

const Repository = Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]);
const GithubPullRequest = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  state: Type.String(),
  draft: Type.Optional(Type.Boolean()),
  created_at: Type.String(),
  merged_at: Type.Union([Type.String(), Type.Null()]),
  body: Type.Union([Type.String(), Type.Null()]),
  head: Type.Object({ ref: Type.String(), repo: Type.Optional(Repository) }),
  base: Type.Object({ ref: Type.String(), repo: Type.Optional(Repository) }),
});

const pagesMax = 10;

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
    },
    [422],
    signal,
  );
  if (outcome.kind === "ok") return { kind: "created", pullRequest: toPullRequest(outcome.value) };
  // GitHub answers 422 for many reasons; only its message tells them apart.
  const words = wordsOf(outcome.body);
  if (/pull request already exists/i.test(words)) return { kind: "exists" };
  if (draft.draft && /draft pull requests are not supported/i.test(words)) return { kind: "drafts_unsupported" };
  throw refusalOf("GitHub", { status: outcome.status, headers: new Headers(), body: outcome.body }, what);
}

export const { readPullRequest, updatePullRequest } = pullRequestCalls(GithubPullRequest, toPullRequest);

function toPullRequest(found: Static<typeof GithubPullRequest>): PullRequest {
  return {
    number: found.number,
    url: found.html_url,
    state: found.merged_at !== null ? "merged" : found.state === "open" ? "open" : "closed",
    draft: found.draft ?? false,
    head: found.head.ref,
    base: found.base.ref,
    body: found.body ?? "",
  };
}
