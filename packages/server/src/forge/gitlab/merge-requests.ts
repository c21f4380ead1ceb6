import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import type { CreateOutcome, PullRequest, PullRequestChange, PullRequestDraft, PullRequestSearch } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GitlabRepository } from "./describe-repository.ts";

const MergeRequest = Type.Object({
  iid: PullNumber,
  web_url: PageUrl,
  created_at: Type.String(),
  state: Type.String(),
  draft: Type.Optional(Type.Boolean()),
  title: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  source_branch: Type.String(),
  target_branch: Type.String(),
  source_project_id: Type.Union([Type.Integer(), Type.Null()]),
  target_project_id: Type.Integer(),
});

const pagesMax = 10;
const draftPrefix = "Draft: ";

export async function findMergeRequests(
  { api, path }: GitlabRepository,
  { head, since }: PullRequestSearch,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  const listed = await listPages(
    api,
    {
      path: `${path}/merge_requests`,
      query: { source_branch: head, state: "all", scope: "all", order_by: "created_at", sort: "desc" },
      item: MergeRequest,
      sizeName: "per_page",
      pageSize: 100,
      what: "list merge requests",
      ...(since && { isLast: (found: { created_at: string }) => Date.parse(found.created_at) < since.getTime() }),
    },
    pagesMax,
    signal,
  );
  // A fork may have a branch of the same name.
  return listed
    .filter((found) => found.source_branch === head && found.source_project_id === found.target_project_id)
    .map(toPullRequest);
}

export async function createMergeRequest(
  { api, path, settings }: GitlabRepository,
  draft: PullRequestDraft,
  signal: AbortSignal,
): Promise<CreateOutcome> {
  const { squash, removeSourceBranch, labels } = settings;
  const outcome = await api.ask(
    {
      method: "POST",
      path: `${path}/merge_requests`,
      body: {
        source_branch: draft.head,
        target_branch: draft.base,
        title: draft.draft ? `${draftPrefix}${draft.title}` : draft.title,
        description: draft.body,
        ...(labels.length > 0 && { labels }),
        ...(squash !== null && { squash }),
        ...(removeSourceBranch !== null && { remove_source_branch: removeSourceBranch }),
      },
      answer: MergeRequest,
      what: "open a merge request",
    },
    [409],
    signal,
  );
  return outcome.kind === "ok"
    ? { kind: "created", pullRequest: toPullRequest(outcome.value) }
    : // The one conflict there is: another open merge request of this branch.
      { kind: "exists" };
}

export async function readMergeRequest(
  repository: GitlabRepository,
  number: number,
  signal: AbortSignal,
): Promise<PullRequest | null> {
  const path = `${repository.path}/merge_requests/${number}`;
  const request = { method: "GET", path, answer: MergeRequest, what: "read a merge request" } as const;
  const outcome = await repository.api.ask(request, [404], signal);
  return outcome.kind === "ok" ? toPullRequest(outcome.value) : null;
}

export async function updateMergeRequest(
  repository: GitlabRepository,
  number: number,
  { body: description, title }: PullRequestChange,
  signal: AbortSignal,
): Promise<void> {
  const path = `${repository.path}/merge_requests/${number}`;
  const body = { description, ...(title && { title: title.draft ? draftPrefix + title.text : title.text }) };
  const what = "change a merge request";
  await repository.api.call({ method: "PUT", path, body, answer: MergeRequest, what }, signal);
}

function toPullRequest(found: Static<typeof MergeRequest>): PullRequest {
  return {
    number: found.iid,
    url: found.web_url,
    // `locked` means that it is being merged.
    state: found.state === "merged" ? "merged" : found.state === "closed" ? "closed" : "open",
    draft: found.draft ?? /^(draft:|\[draft\]|\(draft\))/i.test(found.title),
    head: found.source_branch,
    base: found.target_branch,
    body: found.description ?? "",
  };
}
