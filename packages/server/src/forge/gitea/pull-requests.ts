import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import type { CreateOutcome, PullRequest, PullRequestDraft } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import { pullRequestCalls } from "../pull-request-calls.ts";
import type { GiteaRepository } from "./gitea-forge.ts";

const Branch = Type.Object({ label: Type.String(), ref: Type.String(), repo_id: Type.Integer() });
const GiteaPullRequest = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  state: Type.String(),
  title: Type.String(),
  body: Type.String(),
  merged: Type.Boolean(),
  /** Releases before 1.23 do not say. */
  draft: Type.Optional(Type.Boolean()),
  head: Branch,
  base: Branch,
});

const draftPrefix = "WIP: ";
const draftTitle = /^\s*(wip:|\[wip\])/i;
const pageSize = 50;
/** Newest first: a pull request of a job is younger than the job, and never behind two thousand others. */
const pagesMax = 40;

/** No release filters by branch, so the newest are read until there are no more. */
export async function findPullRequests(
  { api, path }: GiteaRepository,
  head: string,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  const listed = await listPages(
    api,
    {
      path: `${path}/pulls`,
      query: { state: "all" },
      item: GiteaPullRequest,
      sizeName: "limit",
      pageSize,
      what: "list pull requests",
    },
    pagesMax,
    signal,
  );
  return listed
    .filter((found) => branchOf(found.head) === head && isOfThisRepository(found))
    .map(toPullRequest)
    .sort((left, right) => right.number - left.number);
}

/** `ref` names another place once the branch is deleted; `label` stays. */
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
    },
    [409],
    signal,
  );
  return outcome.kind === "ok"
    ? { kind: "created", pullRequest: toPullRequest(outcome.value) }
    : // Its one conflict: the branch has an open pull request.
      { kind: "exists" };
}

export const { readPullRequest, updatePullRequest } = pullRequestCalls(GiteaPullRequest, toPullRequest, draftPrefix);

function toPullRequest(found: Static<typeof GiteaPullRequest>): PullRequest {
  return {
    number: found.number,
    url: found.html_url,
    state: found.merged ? "merged" : found.state === "open" ? "open" : "closed",
    draft: found.draft ?? draftTitle.test(found.title),
    head: branchOf(found.head),
    base: branchOf(found.base),
    body: found.body,
  };
}
