import { type Static, Type } from "typebox";
import { type ApiClient, createApiClient, createMsMax, listPages, PageUrl, PullNumber } from "../api-client.ts";
import type {
  CreateOutcome,
  ForgeSettings,
  OpenPullRequest,
  PullRequest,
  PullRequestChange,
  PullRequestCommits,
  PullRequestDraft,
  PullRequestSearch,
  RepositoryDescription,
} from "../forge.ts";
import { type ListInput, pageNumber, type RepositoryPage, repositoryPage } from "../repository-address.ts";

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
  /** Null while GitLab prepares it. */
  sha: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  has_conflicts: Type.Optional(Type.Boolean()),
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
      answerMsMax: createMsMax,
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

export async function closeMergeRequest(
  repository: GitlabRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const path = `${repository.path}/merge_requests/${number}`;
  const what = "close a merge request";
  const request = { method: "PUT", path, body: { state_event: "close" }, answer: MergeRequest, what } as const;
  await repository.api.call(request, signal);
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
    ...(found.sha && { headCommit: found.sha }),
    ...(found.has_conflicts && { hasConflicts: true }),
  };
}

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
const statusPagesMax = 3;

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
  return (await listPages(api, request, statusPagesMax, signal)).flatMap(toOpenPull);
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

/** What all functions for a GitLab project share. */
export interface GitlabRepository {
  api: ApiClient;
  settings: ForgeSettings;
  /** `/projects/<encoded path>`. */
  path: string;
}

const Access = Type.Optional(Type.Union([Type.Object({ access_level: Type.Integer() }), Type.Null()]));
const GitlabProject = Type.Object({
  path_with_namespace: Type.String(),
  default_branch: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  archived: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ project_access: Access, group_access: Access })),
});
/** Developer. */
const writeLevel = 30;

function levelIn({ permissions }: Static<typeof GitlabProject>): number | null {
  // Permissions through an invited group or as an administrator are in neither field: null means unknown, not none.
  const levels = [permissions?.project_access, permissions?.group_access].flatMap(
    (access) => access?.access_level ?? [],
  );
  return levels.length > 0 ? Math.max(...levels) : null;
}

/** 30 is Developer, 40 is Maintainer. Null if GitLab does not say. */
export async function accessLevelOf({ api, path }: GitlabRepository, signal: AbortSignal): Promise<number | null> {
  const what = "read the project";
  return levelIn(await api.call({ method: "GET", path, answer: GitlabProject, what }, signal));
}

export async function describeRepository(
  { api, path }: GitlabRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the project";
  const found = await api.call({ method: "GET", path, answer: GitlabProject, what }, signal);
  const level = levelIn(found);
  const mayWrite = level === null ? null : level >= writeLevel;
  return {
    path: found.path_with_namespace,
    defaultBranch: found.default_branch ?? null,
    archived: found.archived ?? false,
    mayPush: mayWrite,
    mayOpenPullRequests: mayWrite,
  };
}

const ListedProject = Type.Object({
  path_with_namespace: Type.String(),
  web_url: PageUrl,
  default_branch: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

/** Of the token's owner, who may push as a developer. */
export async function listGitlabRepositories(input: ListInput, signal: AbortSignal): Promise<RepositoryPage> {
  const authorization = async () => `Bearer ${input.credential}`;
  const api = createApiClient({ ...input, forge: "GitLab", authorization });
  const [page, size] = [pageNumber(input.cursor), 100];
  const mine = { membership: "true", min_access_level: writeLevel, archived: "false" };
  const query = { ...mine, simple: "true", order_by: "last_activity_at", per_page: size, page };
  const outcome = await api.ask(
    { method: "GET", path: "/projects", query, answer: Type.Array(ListedProject), what: "list repositories" },
    [401],
    signal,
  );
  return repositoryPage(outcome, { page, size }, (one: Static<typeof ListedProject>) => ({
    path: one.path_with_namespace,
    url: one.web_url,
    defaultBranch: one.default_branch ?? null,
  }));
}
