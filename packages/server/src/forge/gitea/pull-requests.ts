import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import type { ApiClient } from "../api-client.ts";
import type { CreateOutcome, PullRequest, PullRequestDraft, PullRequestSearch } from "../forge.ts";
import type { ForgeSettings } from "../forge-project.ts";
import { listPages } from "../list-pages.ts";
import { pullRequestCalls } from "../pull-request-calls.ts";

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
}

const Branch = Type.Object({ label: Type.String(), ref: Type.String(), repo_id: Type.Integer() });
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
