import { isFault } from "@emend/base/fault.ts";
import { type Static, Type } from "typebox";
import { createApiClient, credentialIdOf, mayLook, PageUrl, PullNumber } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import type {
  CommitStatus,
  Conversation,
  Forge,
  ForgeInspection,
  ForgeProject,
  OpenPullRequest,
  PullRequestComment,
  PullRequestCommits,
  RemoteForgeInput,
  RepositoryDescription,
  WriteAccess,
} from "../forge.ts";
import { findAddress, matchesBranch, ownedRepository, parseRepositoryAddress } from "../repository-address.ts";
import {
  Account,
  authorizationsOf,
  type BitbucketRepository,
  listValues,
  withComments,
  withDefinitions,
} from "./bitbucket-api.ts";
import { openChecks } from "./checks.ts";
import {
  closePullRequest,
  createPullRequest,
  ensureDetails,
  findPullRequests,
  readPullRequest,
  updatePullRequest,
} from "./pull-requests.ts";

/** Bitbucket Cloud, with an access token, or with a person's API token as `email:token`. */
export function openBitbucketForge(input: RemoteForgeInput): Forge {
  const { project, credential } = input;
  const { apiUrl, gitUrl, owner, name } = locateBitbucket(project);
  const authorizations = authorizationsOf(credential);
  const api = createApiClient({
    fetch: input.fetch,
    forge: "Bitbucket",
    apiUrl,
    authorization: async () => authorizations.api,
    requestsAnHour: 1000,
    ...(input.polling && { polling: input.polling }),
  });
  const { settings } = project;
  const path = `/repositories/${owner}/${name}`;
  const repository: BitbucketRepository = { api, apiUrl, settings, workspace: owner, slug: name, path };
  const hasDetails = settings.labels.length + settings.reviewers.length + settings.teamReviewers.length > 0;
  return {
    name: "bitbucket",
    credentialId: credentialIdOf("bitbucket", apiUrl, credential),
    showsChecks: false,
    commits: null,
    gitRemote: async () => ({ url: gitUrl, authorization: authorizations.git }),
    findPullRequests: (search, signal) => findPullRequests(repository, search, signal),
    // Atlassian does not document a limit.
    effectSecondsMax: 360,
    closePullRequest: (number, signal) => closePullRequest(repository, number, signal),
    createPullRequest: (draft, signal) => createPullRequest(repository, draft, signal),
    ensureDetails: hasDetails ? (number, signal) => ensureDetails(repository, number, signal) : null,
    readPullRequest: (number, signal) => readPullRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updatePullRequest(repository, number, change, signal),
    listOpenPullRequests: (signal) => listOpenPullRequests(repository, signal),
    readPullRequestCommits: (pull, signal) => readPullRequestCommits(repository, pull, signal),
    setStatus: (status, signal) => setStatus(repository, status, signal),
    checks: openChecks(repository),
    mergePullRequest: null,
    forkLimit,
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress(repository, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
    issues: null,
  };
}

/** bitbucket.org has its API on a separate host. Bitbucket Data Center has a different API and is not supported. */
export function locateBitbucket(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  // Bitbucket's clone URL contains the viewer's name, which is not a credential.
  const plain = project.repositoryUrl.trim().replace(/^(https:\/\/)[\w.-]+@(?=(?:www\.)?bitbucket\.org\/)/i, "$1");
  const address = parseRepositoryAddress(plain, { mayBeHttp: given?.startsWith("http:") ?? false });
  const isCloud = ["bitbucket.org", "www.bitbucket.org"].includes(new URL(address.url).host);
  const apiUrl = (given ?? (isCloud ? "https://api.bitbucket.org/2.0" : `${address.origin}/2.0`)).replace(/\/+$/, "");
  if (!URL.canParse(apiUrl)) {
    throw new ForgeFault("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  }
  const { owner, name } = ownedRepository(address, []);
  return { apiUrl, gitUrl: `${address.url}.git`, url: address.url, owner, name };
}

const Line = Type.Optional(Type.Union([Type.Integer(), Type.Null()]));
const Comment = Type.Object({
  id: Type.Integer(),
  content: Type.Object({ raw: Type.Optional(Type.String()) }),
  user: Type.Optional(Type.Union([Account, Type.Null()])),
  deleted: Type.Optional(Type.Boolean()),
  /** Part of a review that is not submitted yet. */
  pending: Type.Optional(Type.Boolean()),
  /** `from` is a line of the old file, `to` a line of the new one. */
  inline: Type.Optional(Type.Union([Type.Object({ path: Type.String(), from: Line, to: Line }), Type.Null()])),
});
const Permission = Type.Object({ permission: Type.Optional(Type.String()), user: Type.Optional(Account) });
const pagesMax = 20;

/** Bitbucket's reviews have no text; everything is in comments. */
function openConversation(repository: BitbucketRepository): Conversation {
  const { api, path } = repository;
  return {
    async listComments(number, signal) {
      const query = { sort: "-created_on" };
      const request = { path: `${path}/pullrequests/${number}/comments`, query, item: Comment, what: "read comments" };
      const listed = await listValues(repository, request, pagesMax, signal);
      // A comment that is written meanwhile moves others to the next page, where they are read again.
      const comments = [...new Map(listed.map((comment) => [comment.id, comment])).values()].toReversed();
      return comments.filter(({ deleted, pending }) => !deleted && !pending).map(toComment);
    },
    mayWrite: (author, signal) => mayWrite(repository, author, signal),
    async comment(number, text, signal) {
      const body = { content: { raw: withDefinitions(text) } };
      const request = { path: `${path}/pullrequests/${number}/comments`, body, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Comment }, signal);
    },
    async reply(number, { id }, text, signal) {
      const body = { content: { raw: withDefinitions(text) }, parent: { id: Number(id.slice(1)) } };
      const request = { path: `${path}/pullrequests/${number}/comments`, body, what: "answer a comment" };
      return (await api.ask({ ...request, method: "POST", answer: Comment }, [404], signal)).kind === "ok";
    },
  };
}

/** Only administrators of the repository can read who may write. Access tokens cannot. */
async function mayWrite(repository: BitbucketRepository, author: string, signal: AbortSignal): Promise<WriteAccess> {
  const { workspace, slug } = repository;
  const path = `/workspaces/${workspace}/permissions/repositories/${slug}`;
  const request = { path, query: { q: 'permission>"read"' }, item: Permission, what: "read people's permissions" };
  const writers = await listValues(repository, request, pagesMax, signal).catch((error: unknown) => {
    if (isFault(error, "forge_rejected")) return null;
    throw error;
  });
  if (writers === null) return "unknown";
  const isWriter = writers.some(
    ({ permission, user }) => idOf(user) === author && (permission === "write" || permission === "admin"),
  );
  return author !== "" && isWriter ? "yes" : "no";
}

/** An account's UUID, without its braces. */
function idOf(user: Static<typeof Account> | null | undefined): string {
  return user?.uuid?.replaceAll(/[{}]/g, "") ?? "";
}

function toComment({ id, content, user, inline }: Static<typeof Comment>): PullRequestComment {
  const line = inline?.to ?? inline?.from ?? null;
  const isRemovedLine = !inline?.to && Boolean(inline?.from);
  return {
    id: `c${id}`,
    author: idOf(user),
    ...(user?.display_name && { authorName: user.display_name }),
    text: withComments(content.raw ?? ""),
    path: inline?.path ?? null,
    line,
    ...(isRemovedLine && { isRemovedLine }),
  };
}

const Repository = Type.Object({
  full_name: Type.String(),
  /** Null if nothing was pushed yet. */
  mainbranch: Type.Optional(Type.Union([Type.Object({ name: Type.String() }), Type.Null()])),
});
const Restriction = Type.Object({
  kind: Type.String(),
  branch_match_kind: Type.Optional(Type.String()),
  pattern: Type.String(),
  users: Type.Optional(Type.Array(Account)),
  groups: Type.Optional(Type.Array(Type.Object({ name: Type.Optional(Type.String()) }))),
});
const Hook = Type.Object({ url: Type.String(), active: Type.Optional(Type.Boolean()) });

/** The first scope of each list includes the others. One list is for access tokens, one for API tokens. */
const pushScopes = ["repository:write", "pullrequest:write", "write:repository:bitbucket"];
const pullScopes = ["pullrequest:write", "write:pullrequest:bitbucket"];

/** Bitbucket has no archived repositories. A token's scopes are in a response header. */
async function describeRepository(
  repository: BitbucketRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const { found, scopes } = await readRepository(repository, signal);
  return {
    path: found.full_name,
    defaultBranch: found.mainbranch?.name ?? null,
    archived: false,
    mayPush: hasOne(scopes, pushScopes),
    mayOpenPullRequests: hasOne(scopes, pullScopes),
  };
}

async function readRepository({ api, path }: BitbucketRepository, signal: AbortSignal) {
  const request = { path, answer: Repository, what: "read the repository" };
  const outcome = await api.ask({ ...request, method: "GET" }, [], signal);
  if (outcome.kind !== "ok") throw new ForgeFault("internal", { publicMessage: "A refusal was not thrown." });
  const told = outcome.headers.get("x-oauth-scopes")?.trim();
  return { found: outcome.value, scopes: told ? told.split(/[\s,]+/) : null };
}

function hasOne(scopes: readonly string[] | null, wanted: readonly string[]): boolean | null {
  return scopes?.some((scope) => wanted.includes(scope)) ?? null;
}

async function inspect(repository: BitbucketRepository, branch: string, signal: AbortSignal): Promise<ForgeInspection> {
  const { api, path, workspace, slug } = repository;
  const { scopes } = await readRepository(repository, signal);
  const user = await mayLook(api, { path: "/user", answer: Account }, signal);
  const query = { kind: "push", pagelen: 50 };
  const page = <T extends typeof Restriction | typeof Hook>(item: T) => Type.Object({ values: Type.Array(item) });
  const rules = await mayLook(api, { path: `${path}/branch-restrictions`, query, answer: page(Restriction) }, signal);
  const hooks = await mayLook(api, { path: `${path}/hooks`, query: { pagelen: 50 }, answer: page(Hook) }, signal);
  const closed = (rules?.value.values ?? []).filter(
    (rule) => rule.kind === "push" && isMet(rule, branch) && !isLetIn(rule, user?.value.uuid),
  );
  const rights = await mayLook(
    api,
    { path: `/workspaces/${workspace}/permissions/repositories/${slug}`, answer: Type.Object({}) },
    signal,
  );
  return {
    server: null,
    account: user?.value.display_name ?? null,
    expiresAt: null,
    lacks: [
      ...(hasOne(scopes, pushScopes) === false ? ["the scope repository:write"] : []),
      ...(hasOne(scopes, pullScopes) === false ? ["the scope pullrequest:write"] : []),
    ],
    unknownAuthors:
      rights === null
        ? "Emend does not act on comments, because on Bitbucket only a repository administrator's API token can read permissions. Give the project such a token, as email:token"
        : null,
    branchRules: rules && closed.map(wordsFor),
    webhooks: hooks?.value.values.map(({ url, active }) => ({ url, isActive: active ?? true, failure: null })) ?? null,
  };
}

/** Branch types follow a model that Emend's branches are not part of. */
function isMet({ branch_match_kind: kind, pattern }: Static<typeof Restriction>, branch: string): boolean {
  return kind !== "branching_model" && matchesBranch(pattern, branch, { starCrossesSlash: true });
}

/** Members of a group are unknown, so a group is assumed to include the account. */
function isLetIn({ users = [], groups = [] }: Static<typeof Restriction>, own: string | undefined): boolean {
  return groups.length > 0 || (own !== undefined && users.some(({ uuid }) => uuid === own));
}

function wordsFor({ pattern, users = [] }: Static<typeof Restriction>): string {
  const who = users.map(({ display_name: name }) => name ?? "somebody").join(", ");
  return `${pattern} is restricted, and only these may push: ${who || "no one"}`;
}

const Place = Type.Object({
  branch: Type.Object({ name: Type.String() }),
  /** Its first twelve digits. Null: a fork that was deleted. */
  commit: Type.Optional(Type.Union([Type.Object({ hash: Type.String() }), Type.Null()])),
  repository: Type.Optional(Type.Union([Type.Object({ full_name: Type.String() }), Type.Null()])),
});
const OpenPull = Type.Object({
  id: PullNumber,
  links: Type.Object({ html: Type.Object({ href: PageUrl }) }),
  title: Type.String(),
  summary: Type.Optional(Type.Object({ raw: Type.Optional(Type.String()) })),
  source: Place,
  destination: Place,
});
const Commit = Type.Object({ hash: Type.String({ pattern: "^[0-9a-f]{40,64}$" }) });
const statusPagesMax = 4;
const keyMax = 40;

async function listOpenPullRequests(
  repository: BitbucketRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${repository.path}/pullrequests`,
    query: { state: "OPEN", sort: "-updated_on" },
    item: OpenPull,
    what: "list pull requests",
  };
  return (await listValues(repository, request, statusPagesMax, signal)).flatMap(toOpenPull);
}

function toOpenPull({ id, links, title, summary, source, destination }: Static<typeof OpenPull>): OpenPullRequest[] {
  if (!source.commit) return [];
  return [
    {
      number: id,
      url: links.html.href,
      title,
      body: summary?.raw ?? "",
      head: source.branch.name,
      base: destination.branch.name,
      headCommit: source.commit.hash,
      isFork: source.repository?.full_name !== destination.repository?.full_name,
    },
  ];
}

/**
 * Bitbucket's description (2026-08-22): a build status belongs to a repository's commit, 404 "if the repository, commit,
 * or build status key does not exist". A fork's commits are in the fork alone, where Emend's token may not write.
 */
const forkLimit =
  "The branch is in a fork. Bitbucket sets build statuses only on commits of the repository itself. Push the branch to this repository and open the pull request from there.";

/** Null for a fork's commits, unless a branch of this repository has them too. */
async function readPullRequestCommits(
  { api, path }: BitbucketRepository,
  { base, headCommit }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const reading = { method: "GET", answer: Commit, what: "read a commit" } as const;
  const found = await api.ask({ ...reading, path: `${path}/commit/${headCommit}` }, [404], signal);
  if (found.kind !== "ok") return null;
  const head = found.value.hash;
  const spec = encodeURIComponent(`${base}..${head}`);
  const parted = await api.ask({ ...reading, path: `${path}/merge-base/${spec}` }, [404], signal);
  return parted.kind === "ok" ? { head, base: parted.value.hash } : null;
}

/** Bitbucket has no word for neutral: it is a success that says in its words what was found. */
const states = { pending: "INPROGRESS", passed: "SUCCESSFUL", neutral: "SUCCESSFUL", failed: "FAILED" } as const;

async function setStatus(
  { api, path }: BitbucketRepository,
  { commit, pulls, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<null> {
  // With a branch, it shows on that branch's pull requests only. A fork's branch is none of this repository.
  const refs = new Set(pulls.map(({ head, isFork }) => (isFork ? null : head)));
  const [refname] = refs;
  const key = name.slice(0, keyMax);
  const body = {
    key,
    name,
    state: states[state],
    description: words,
    url,
    ...(refs.size === 1 && refname && { refname }),
  };
  const request = {
    path: `${path}/commit/${commit}/statuses/build`,
    body,
    answer: Type.Object({}),
    what: "set a commit status",
  };
  await api.call({ ...request, method: "POST" }, signal);
  return null;
}
