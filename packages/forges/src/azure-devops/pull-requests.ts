import { type Static, Type } from "typebox";
import { createMsMax, PullNumber } from "../api-client.ts";
import { refusalOf } from "../api-refusal.ts";
import { ForgeFault } from "../faults.ts";
import type {
  CreateOutcome,
  OpenPullRequest,
  PullRequest,
  PullRequestChange,
  PullRequestDraft,
  PullRequestSearch,
} from "../forge.ts";
import {
  type AzureDevopsRepository,
  branchOf,
  CommitId,
  hasKind,
  Identity,
  listed,
  listValues,
  refOf,
} from "./azure-devops-api.ts";

const Commit = Type.Optional(Type.Union([Type.Object({ commitId: CommitId }), Type.Null()]));
const AzureDevopsPullRequest = Type.Object({
  pullRequestId: PullNumber,
  title: Type.String(),
  /** Lists have its first 400 characters. */
  description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  status: Type.String(),
  isDraft: Type.Optional(Type.Boolean()),
  mergeStatus: Type.Optional(Type.String()),
  creationDate: Type.String(),
  sourceRefName: Type.String(),
  targetRefName: Type.String(),
  /** Absent until Azure DevOps has tried the merge. */
  lastMergeSourceCommit: Commit,
  /** Only of a pull request from a fork. */
  forkSource: Type.Optional(Type.Union([Type.Object({}), Type.Null()])),
});
type AzureDevopsPullRequest = Static<typeof AzureDevopsPullRequest>;

/** "A description for a pull request must not be longer than 4000 characters": UTF-16 units, as .NET counts them. */
export const descriptionLengthMax = 4000;
const listedDescriptionLength = 400;
const findPagesMax = 10;
const openPagesMax = 4;

/** Lists cut descriptions, where Emend's mark is at the end: what is cut is read one by one. */
export async function findPullRequests(
  repository: AzureDevopsRepository,
  { head, since }: PullRequestSearch,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  const found = await listValues(
    repository,
    {
      path: `${repository.path}/pullrequests`,
      query: { "searchCriteria.sourceRefName": refOf(head), "searchCriteria.status": "all" },
      item: AzureDevopsPullRequest,
      what: "list pull requests",
      ...(since && { isLast: (one: AzureDevopsPullRequest) => Date.parse(one.creationDate) < since.getTime() }),
    },
    findPagesMax,
    signal,
  );
  const own = found.filter((one) => one.sourceRefName === refOf(head) && !one.forkSource);
  const unique = [...new Map(own.map((one) => [one.pullRequestId, one])).values()];
  const whole: PullRequest[] = [];
  for (const one of unique.toSorted((left, right) => right.pullRequestId - left.pullRequestId)) {
    const isCut = (one.description ?? "").length >= listedDescriptionLength;
    const read = isCut ? await readPullRequest(repository, one.pullRequestId, signal) : null;
    whole.push(read ?? toPullRequest(repository, one));
  }
  return whole;
}

export async function createPullRequest(
  repository: AzureDevopsRepository,
  draft: PullRequestDraft,
  signal: AbortSignal,
): Promise<CreateOutcome> {
  const outcome = await repository.api.ask(
    {
      method: "POST",
      path: `${repository.path}/pullrequests`,
      body: {
        sourceRefName: refOf(draft.head),
        targetRefName: refOf(draft.base),
        title: draft.title,
        description: draft.body,
        isDraft: draft.draft,
      },
      answer: AzureDevopsPullRequest,
      what: "open a pull request",
      answerMsMax: createMsMax,
    },
    [409],
    signal,
  );
  if (outcome.kind === "ok") return { kind: "created", pullRequest: toPullRequest(repository, outcome.value) };
  if (hasKind(outcome.body, "GitPullRequestExistsException", "TF401179")) return { kind: "exists" };
  throw refusalOf("Azure DevOps", outcome, "open a pull request");
}

export async function readPullRequest(
  repository: AzureDevopsRepository,
  number: number,
  signal: AbortSignal,
): Promise<PullRequest | null> {
  const request = {
    path: `${repository.path}/pullrequests/${number}`,
    answer: AzureDevopsPullRequest,
    what: "read a pull request",
  };
  const outcome = await repository.api.ask({ ...request, method: "GET" }, [404], signal);
  return outcome.kind === "ok" ? toPullRequest(repository, outcome.value) : null;
}

/** Azure DevOps refuses to close or change what is not open. */
export async function closePullRequest(
  repository: AzureDevopsRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const found = await readPullRequest(repository, number, signal);
  if (found?.state !== "open") return;
  await patch(repository, number, { status: "abandoned" }, "abandon a pull request", signal);
}

export async function updatePullRequest(
  repository: AzureDevopsRepository,
  number: number,
  { body, title }: PullRequestChange,
  signal: AbortSignal,
): Promise<void> {
  const change = { description: body, ...(title && { title: title.text }) };
  await patch(repository, number, change, "change a pull request", signal);
}

async function patch(
  { api, path }: AzureDevopsRepository,
  number: number,
  body: object,
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const request = { path: `${path}/pullrequests/${number}`, body, answer: AzureDevopsPullRequest, what };
  await api.call({ ...request, method: "PATCH" }, signal);
}

export async function listOpenPullRequests(
  repository: AzureDevopsRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${repository.path}/pullrequests`,
    query: { "searchCriteria.status": "active" },
    item: AzureDevopsPullRequest,
    what: "list pull requests",
  };
  const found = await listValues(repository, request, openPagesMax, signal);
  return found.flatMap((one) =>
    one.lastMergeSourceCommit
      ? [
          {
            number: one.pullRequestId,
            url: urlOf(repository, one.pullRequestId),
            title: one.title,
            body: one.description ?? "",
            head: branchOf(one.sourceRefName),
            base: branchOf(one.targetRefName),
            headCommit: one.lastMergeSourceCommit.commitId,
            isFork: Boolean(one.forkSource),
          },
        ]
      : [],
  );
}

const Label = Type.Object({ name: Type.String() });
const Reviewer = Identity;
/** An identity's id, as its page and the API show it. */
const identityId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Adds labels and reviewers that are not there yet. Reports what is unknown or unsupported after the rest is done. */
export async function ensureDetails(
  repository: AzureDevopsRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const { api, path, settings } = repository;
  const pullPath = `${path}/pullRequests/${number}`;
  if (settings.labels.length > 0) {
    const reading = { path: `${pullPath}/labels`, answer: listed(Label), what: "read labels" };
    const { value } = await api.call({ ...reading, method: "GET" }, signal);
    const known = value.map(({ name }) => name.toLowerCase());
    for (const name of settings.labels.filter((one) => !known.includes(one.toLowerCase()))) {
      const adding = { path: `${pullPath}/labels`, body: { name }, answer: Label, what: "set labels" };
      await api.call({ ...adding, method: "POST" }, signal);
    }
  }
  const { ids, unknown } = await idsOf(repository, [...settings.reviewers, ...settings.teamReviewers], signal);
  if (ids.length > 0) {
    const reading = { path: `${pullPath}/reviewers`, answer: listed(Reviewer), what: "read reviewers" };
    const { value } = await api.call({ ...reading, method: "GET" }, signal);
    const known = value.map(({ id }) => id.toLowerCase());
    for (const id of ids.filter((one) => !known.includes(one.toLowerCase()))) {
      const place = `${pullPath}/reviewers/${encodeURIComponent(id)}`;
      // A reviewer who is there already would lose the vote.
      const adding = { path: place, body: { id, vote: 0 }, answer: Reviewer, what: "request reviews" };
      await api.call({ ...adding, method: "PUT" }, signal);
    }
  }
  if (unknown.length === 0) return;
  throw new ForgeFault("forge_rejected", {
    publicMessage: `Azure DevOps does not say who ${unknown.join(", ")} is: name reviewers by email address, or by the id of their identity. Names need a token with the scope Identity: read.`,
  });
}

async function idsOf({ identities }: AzureDevopsRepository, names: readonly string[], signal: AbortSignal) {
  const ids: string[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    if (identityId.test(name)) {
      ids.push(name);
      continue;
    }
    const query = { searchFilter: "General", filterValue: name };
    const request = { path: "/_apis/identities", query, answer: listed(Identity), what: "look people up" };
    const outcome = await identities.ask({ ...request, method: "GET" }, [401, 403, 404], signal);
    // Several people may have a name: then it names none of them.
    const [only, ...others] = outcome.kind === "ok" ? outcome.value.value : [];
    if (only && others.length === 0) ids.push(only.id);
    else unknown.push(name);
  }
  return { ids, unknown };
}

const states: Readonly<Record<string, PullRequest["state"]>> = { active: "open", completed: "merged" };

function toPullRequest(repository: AzureDevopsRepository, found: AzureDevopsPullRequest): PullRequest {
  return {
    number: found.pullRequestId,
    url: urlOf(repository, found.pullRequestId),
    state: states[found.status] ?? "closed",
    draft: found.isDraft ?? false,
    head: branchOf(found.sourceRefName),
    base: branchOf(found.targetRefName),
    body: found.description ?? "",
    ...(found.lastMergeSourceCommit && { headCommit: found.lastMergeSourceCommit.commitId }),
    ...(found.status === "active" && found.mergeStatus === "conflicts" && { hasConflicts: true }),
  };
}

/** The API names its own address only. */
function urlOf({ url }: AzureDevopsRepository, number: number): string {
  return `${url}/pullrequest/${number}`;
}
