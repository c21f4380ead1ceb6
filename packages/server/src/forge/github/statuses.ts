import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import type { CommitStatus, OpenPullRequest, PullRequestCommits } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GithubRepository } from "./github-token.ts";

const Repository = Type.Optional(Type.Union([Type.Object({ id: Type.Number() }), Type.Null()]));
const Branch = Type.Object({ ref: Type.String(), sha: Type.String(), repo: Repository });
const OpenPull = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  title: Type.String(),
  body: Type.Union([Type.String(), Type.Null()]),
  head: Branch,
  base: Branch,
});
const pagesMax = 3;
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
  return (await listPages(api, request, pagesMax, signal)).map(toOpenPull);
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
): Promise<void> {
  const body = { state: states[state], context: name, description: words.slice(0, wordsMax), target_url: url };
  const request = { path: `${path}/statuses/${commit}`, body, answer: Type.Object({}), what: "set a commit status" };
  await api.call({ ...request, method: "POST" }, signal);
}
