import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import { refusalOf, wordsOf } from "../api-refusal.ts";
import type { CommitStatus, OpenPullRequest, PullRequestCommits } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GitlabRepository } from "./describe-repository.ts";

const OpenMergeRequest = Type.Object({
  iid: PullNumber,
  web_url: PageUrl,
  title: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  /** Null while GitLab prepares it. */
  sha: Type.Union([Type.String(), Type.Null()]),
  source_branch: Type.String(),
  target_branch: Type.String(),
  source_project_id: Type.Union([Type.Integer(), Type.Null()]),
  target_project_id: Type.Integer(),
});
const pagesMax = 3;
const wordsMax = 255;

export async function listOpenPullRequests(
  { api, path }: GitlabRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${path}/merge_requests`,
    query: { state: "opened", scope: "all", order_by: "updated_at", sort: "desc" },
    item: OpenMergeRequest,
    sizeName: "per_page",
    pageSize: 100,
    what: "list merge requests",
  } as const;
  return (await listPages(api, request, pagesMax, signal)).flatMap(toOpenPull);
}

function toOpenPull(found: Static<typeof OpenMergeRequest>): OpenPullRequest[] {
  if (found.sha === null) return [];
  return [
    {
      number: found.iid,
      url: found.web_url,
      title: found.title,
      body: found.description ?? "",
      head: found.source_branch,
      base: found.target_branch,
      headCommit: found.sha,
      isFork: found.source_project_id !== found.target_project_id,
    },
  ];
}

export async function readPullRequestCommits(
  { api, path }: GitlabRepository,
  { base, headCommit }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const request = {
    path: `${path}/repository/merge_base`,
    query: { "refs[]": [base, headCommit] },
    answer: Type.Object({ id: Type.String() }),
    what: "compare commits",
  };
  const outcome = await api.ask({ ...request, method: "GET" }, [400, 404], signal);
  return outcome.kind === "ok" ? { head: headCommit, base: outcome.value.id } : null;
}

/** GitLab has no word for neutral: it is a success that says in its words what was found. */
const states = { pending: "pending", passed: "success", neutral: "success", failed: "failed" } as const;

export async function setStatus(
  { api, path }: GitlabRepository,
  { commit, branch, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<void> {
  const what = "set a commit status";
  const outcome = await api.ask(
    {
      method: "POST",
      path: `${path}/statuses/${commit}`,
      body: { state: states[state], name, ref: branch, description: words.slice(0, wordsMax), target_url: url },
      answer: Type.Object({}),
      what,
    },
    [400],
    signal,
  );
  // A status that waits already cannot begin to wait again, which GitLab calls a transition that it does not have.
  if (outcome.kind === "ok" || /cannot transition/i.test(wordsOf(outcome.body))) return;
  throw refusalOf("GitLab", outcome, what);
}
