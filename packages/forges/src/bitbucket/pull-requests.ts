import { createKeyedMutex } from "@emend/base/locks.ts";
import { type Static, Type } from "typebox";
import { createMsMax, PageUrl, PullNumber } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import type { CreateOutcome, PullRequest, PullRequestChange, PullRequestDraft, PullRequestSearch } from "../forge.ts";
import { Account, type BitbucketRepository, listValues, withComments, withDefinitions } from "./bitbucket-api.ts";

const Branch = Type.Object({
  branch: Type.Object({ name: Type.String() }),
  /** The first twelve digits. */
  commit: Type.Optional(Type.Union([Type.Object({ hash: Type.String() }), Type.Null()])),
  /** Null for a deleted fork. */
  repository: Type.Optional(Type.Union([Type.Object({ full_name: Type.String() }), Type.Null()])),
});
const BitbucketPullRequest = Type.Object({
  id: PullNumber,
  links: Type.Object({ html: Type.Object({ href: PageUrl }) }),
  title: Type.String(),
  /** The text. Single responses have it; some responses have it only as it was sent. */
  summary: Type.Optional(Type.Object({ raw: Type.Optional(Type.String()) })),
  description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  state: Type.String(),
  draft: Type.Optional(Type.Boolean()),
  source: Branch,
  destination: Branch,
  created_on: Type.String(),
});
/** Lists leave these out. */
const WithReviewers = Type.Intersect([
  BitbucketPullRequest,
  Type.Object({
    reviewers: Type.Array(Account),
    participants: Type.Optional(
      Type.Array(Type.Object({ user: Type.Union([Account, Type.Null()]), approved: Type.Optional(Type.Boolean()) })),
    ),
  }),
]);
type BitbucketPullRequest = Static<typeof BitbucketPullRequest>;

const pagesMax = 10;
const states = ["OPEN", "MERGED", "DECLINED", "SUPERSEDED"] as const;

export function findPullRequests(
  repository: BitbucketRepository,
  search: PullRequestSearch,
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  return listOf(repository, search, states, signal);
}

async function listOf(
  repository: BitbucketRepository,
  { head, since }: PullRequestSearch,
  wanted: readonly (typeof states)[number][],
  signal: AbortSignal,
): Promise<readonly PullRequest[]> {
  const listed = await listValues(
    repository,
    {
      path: `${repository.path}/pullrequests`,
      query: { q: `source.branch.name = ${JSON.stringify(head)}`, sort: "-created_on", state: wanted },
      item: BitbucketPullRequest,
      what: "list pull requests",
      ...(since && { isLast: ({ created_on: at }: { created_on: string }) => Date.parse(at) < since.getTime() }),
    },
    pagesMax,
    signal,
  );
  // A fork may have a branch of the same name.
  return listed.filter((found) => found.source.branch.name === head && isOfThisRepository(found)).map(toPullRequest);
}

function isOfThisRepository({ source, destination }: BitbucketPullRequest): boolean {
  return source.repository?.full_name === destination.repository?.full_name;
}

/** A mutex by repository and branch, for this process. */
const creating = createKeyedMutex({ waitingMax: 100 });

/**
 * If the branches already have a pull request, Bitbucket silently changes its title and text instead of refusing a
 * second one. So this looks for one right before, under a mutex.
 */
export async function createPullRequest(
  repository: BitbucketRepository,
  draft: PullRequestDraft,
  signal: AbortSignal,
): Promise<CreateOutcome> {
  const key = `${repository.apiUrl}${repository.path} ${draft.head}`;
  const turn = creating.run(key, () => createUnlessOpen(repository, draft, signal));
  return turn ?? { kind: "exists" };
}

async function createUnlessOpen(
  repository: BitbucketRepository,
  draft: PullRequestDraft,
  signal: AbortSignal,
): Promise<CreateOutcome> {
  signal.throwIfAborted();
  const open = await listOf(repository, { head: draft.head }, ["OPEN"], signal);
  if (open.length > 0) return { kind: "exists" };
  const { removeSourceBranch } = repository.settings;
  const created = await repository.api.call(
    {
      method: "POST",
      path: `${repository.path}/pullrequests`,
      body: {
        title: draft.title,
        description: withDefinitions(draft.body),
        source: { branch: { name: draft.head } },
        destination: { branch: { name: draft.base } },
        draft: draft.draft,
        ...(removeSourceBranch !== null && { close_source_branch: removeSourceBranch }),
      },
      answer: BitbucketPullRequest,
      what: "open a pull request",
      answerMsMax: createMsMax,
    },
    signal,
  );
  return { kind: "created", pullRequest: toPullRequest(created) };
}

/** Bitbucket has no API to close one that is not open. */
export async function closePullRequest(
  repository: BitbucketRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const found = await readPullRequest(repository, number, signal);
  if (found?.state !== "open") return;
  const path = `${repository.path}/pullrequests/${number}/decline`;
  const what = "decline a pull request";
  await repository.api.call({ method: "POST", path, answer: BitbucketPullRequest, what }, signal);
}

export async function readPullRequest(
  { api, path }: BitbucketRepository,
  number: number,
  signal: AbortSignal,
): Promise<PullRequest | null> {
  const request = { path: `${path}/pullrequests/${number}`, answer: BitbucketPullRequest, what: "read a pull request" };
  const outcome = await api.ask({ ...request, method: "GET" }, [404], signal);
  return outcome.kind === "ok" ? toPullRequest(outcome.value) : null;
}

export async function updatePullRequest(
  repository: BitbucketRepository,
  number: number,
  { body, title }: PullRequestChange,
  signal: AbortSignal,
): Promise<void> {
  const found = await readWhole(repository, number, signal);
  const change = { description: withDefinitions(body), ...(title && { title: title.text }) };
  await put(repository, found, change, "change a pull request", signal);
}

function readWhole({ api, path }: BitbucketRepository, number: number, signal: AbortSignal) {
  const request = { path: `${path}/pullrequests/${number}`, answer: WithReviewers, what: "read a pull request" };
  return api.call({ ...request, method: "GET" }, signal);
}

/** A PUT removes what the request leaves out, such as reviewers. So all fields are sent. */
async function put(
  { api, path }: BitbucketRepository,
  found: Static<typeof WithReviewers>,
  change: { title?: string; description?: string; reviewers?: readonly { uuid?: string }[] },
  what: string,
  signal: AbortSignal,
): Promise<void> {
  const body = {
    title: found.title,
    description: textOf(found),
    reviewers: found.reviewers.map(({ uuid }) => ({ uuid })),
    draft: found.draft ?? false,
    ...change,
  };
  const request = { path: `${path}/pullrequests/${found.id}`, body, answer: BitbucketPullRequest, what };
  await api.call({ ...request, method: "PUT" }, signal);
}

/** Adds reviewers. Reports unsupported settings after the rest is done. */
export async function ensureDetails(
  repository: BitbucketRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const { labels, reviewers, teamReviewers } = repository.settings;
  const { uuids, unknown } = await uuidsOf(repository, reviewers, signal);
  if (uuids.length > 0) {
    const found = await readWhole(repository, number, signal);
    const approved = (found.participants ?? []).flatMap(({ user, approved }) => (approved ? (user?.uuid ?? []) : []));
    const known = [...found.reviewers.map(({ uuid }) => uuid), ...approved];
    const added = uuids.filter((uuid) => !known.includes(uuid));
    const all = [...found.reviewers.map(({ uuid }) => ({ uuid })), ...added.map((uuid) => ({ uuid }))];
    if (added.length > 0) await put(repository, found, { reviewers: all }, "request reviews", signal);
  }
  const missing = [
    ...(unknown.length > 0
      ? [`Bitbucket has no account ${unknown.join(", ")}: name reviewers by account ID, or by UUID in braces.`]
      : []),
    ...(labels.length > 0
      ? ["Bitbucket has no labels on pull requests. Remove them from the project's settings."]
      : []),
    ...(teamReviewers.length > 0 ? ["Bitbucket has no team reviewers. Name people instead."] : []),
  ];
  if (missing.length > 0) throw new ForgeFault("forge_rejected", { publicMessage: missing.join(" ") });
}

async function uuidsOf({ api }: BitbucketRepository, names: readonly string[], signal: AbortSignal) {
  const uuids: string[] = [];
  const unknown: string[] = [];
  for (const name of names) {
    if (/^\{.+\}$/.test(name)) {
      uuids.push(name);
      continue;
    }
    const request = { path: `/users/${encodeURIComponent(name)}`, answer: Account, what: "look people up" };
    const outcome = await api.ask({ ...request, method: "GET" }, [404], signal);
    if (outcome.kind === "ok" && outcome.value.uuid) uuids.push(outcome.value.uuid);
    else unknown.push(name);
  }
  return { uuids, unknown };
}

function textOf({ summary, description }: BitbucketPullRequest): string {
  return summary?.raw ?? description ?? "";
}

function toPullRequest(found: BitbucketPullRequest): PullRequest {
  return {
    number: found.id,
    url: found.links.html.href,
    state: found.state === "OPEN" ? "open" : found.state === "MERGED" ? "merged" : "closed",
    draft: found.draft ?? false,
    head: found.source.branch.name,
    base: found.destination.branch.name,
    body: withComments(textOf(found)),
    ...(found.source.commit && { headCommit: found.source.commit.hash }),
    ...(found.destination.commit && { baseCommit: found.destination.commit.hash }),
  };
}
