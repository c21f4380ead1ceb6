import { isFault } from "@emend/base/fault.ts";
import { type Static, Type } from "typebox";
import {
  type ApiClient,
  basicAuthorization,
  createApiClient,
  credentialIdOf,
  listPages,
  mayLook,
  PageUrl,
  PullNumber,
} from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import type {
  CommitStatus,
  Forge,
  ForgeInspection,
  ForgeProject,
  OpenPullRequest,
  PullRequestCommits,
  RemoteForgeInput,
  RepositoryDescription,
} from "../forge.ts";
import { tryEach } from "../pull-request-calls.ts";
import {
  findAddress,
  folderOfApi,
  type ListInput,
  matchesBranch,
  ownedRepository,
  pageNumber,
  parseRepositoryAddress,
  type RepositoryPage,
  repositoryPage,
} from "../repository-address.ts";
import { openChecks } from "./checks.ts";
import { openIssues } from "./issues.ts";
import { mergePullRequest } from "./merge.ts";
import {
  closePullRequest,
  createPullRequest,
  findPullRequests,
  type GiteaRepository,
  type GiteaServer,
  listReviews,
  openConversation,
  readPullRequest,
  teamsThatOnlyRead,
  updatePullRequest,
} from "./pull-requests.ts";

/** Gitea and Forgejo, with an access token. */
export function openGiteaForge(input: RemoteForgeInput): Forge {
  const { project, credential } = input;
  const { apiUrl, gitUrl, owner, name } = locateGitea(project);
  const api = createApiClient({
    fetch: input.fetch,
    forge: "Gitea",
    apiUrl,
    authorization: async () => `token ${credential}`,
    ...(input.polling && { polling: input.polling }),
  });
  const { settings } = project;
  let asked: Promise<GiteaServer | null> | undefined;
  const server = (signal: AbortSignal) => {
    asked ??= readServer(api, signal);
    // A failure is not cached.
    asked.catch(() => {
      asked = undefined;
    });
    return asked;
  };
  const repository: GiteaRepository = { api, settings, owner, path: `/repos/${owner}/${name}`, server };
  const hasDetails = settings.labels.length + settings.reviewers.length + settings.teamReviewers.length > 0;
  return {
    name: "gitea",
    credentialId: credentialIdOf("gitea", apiUrl, credential),
    showsChecks: false,
    commits: null,
    // The only pair that every release of both accepts with a token, whoever owns it.
    gitRemote: async () => ({ url: gitUrl, authorization: basicAuthorization(credential, "x-oauth-basic") }),
    findPullRequests: (search, signal) => findPullRequests(repository, search, signal),
    // Gitea stops a git command after 360 s (`[git.timeout] DEFAULT`), and goes on when the client has left.
    effectSecondsMax: 360,
    closePullRequest: (number, signal) => closePullRequest(repository, number, signal),
    mergePullRequest: (input, signal) => mergePullRequest(repository, input, signal),
    pullRef: (number) => `refs/pull/${number}/head`,
    createPullRequest: (draft, signal) => createPullRequest(repository, draft, signal),
    ensureDetails: hasDetails ? (number, signal) => ensureDetails(repository, number, signal) : null,
    readPullRequest: (number, signal) => readPullRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updatePullRequest(repository, number, change, signal),
    listOpenPullRequests: (signal) => listOpenPullRequests(repository, signal),
    readPullRequestCommits: (pull, signal) => readPullRequestCommits(repository, pull, signal),
    setStatus: (status, signal) => setStatus(repository, status, signal),
    checks: openChecks(repository),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress({ ...repository, apiUrl }, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
    issues: openIssues(repository),
  };
}

export function locateGitea(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  const address = parseRepositoryAddress(project.repositoryUrl, { mayBeHttp: given?.startsWith("http:") ?? false });
  const apiUrl = (given ?? `${address.origin}/api/v1`).replace(/\/+$/, "");
  const url = URL.parse(apiUrl);
  if (!url) throw new ForgeFault("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  const { owner, name } = ownedRepository(address, folderOfApi(url, address, "/api/v1"));
  return { apiUrl, gitUrl: `${address.url}.git`, url: address.url, owner, name };
}

const Repository = Type.Object({
  full_name: Type.String(),
  default_branch: Type.String(),
  archived: Type.Boolean(),
  has_pull_requests: Type.Optional(Type.Boolean()),
  permissions: Type.Optional(Type.Object({ push: Type.Boolean() })),
});

async function describeRepository({ api, path }: GiteaRepository, signal: AbortSignal): Promise<RepositoryDescription> {
  const what = "read the repository";
  const found = await api.call({ method: "GET", path, answer: Repository, what }, signal);
  return {
    path: found.full_name,
    defaultBranch: found.default_branch,
    archived: found.archived,
    mayPush: found.permissions?.push ?? null,
    mayOpenPullRequests: found.has_pull_requests ?? null,
  };
}

/** Of the token's owner. */
export async function listGiteaRepositories(input: ListInput, signal: AbortSignal): Promise<RepositoryPage> {
  const api = createApiClient({ ...input, forge: "Gitea", authorization: async () => `token ${input.credential}` });
  // Gitea's default maximum.
  const [page, size] = [pageNumber(input.cursor), 50];
  const answer = Type.Array(Type.Intersect([Repository, Type.Object({ html_url: PageUrl })]));
  const query = { limit: size, page };
  const outcome = await api.ask(
    { method: "GET", path: "/user/repos", query, answer, what: "list repositories" },
    [401],
    signal,
  );
  return repositoryPage(outcome, { page, size }, (one: Static<typeof answer>[number]) =>
    one.archived || one.permissions?.push === false
      ? null
      : { path: one.full_name, url: one.html_url, defaultBranch: one.default_branch },
  );
}

/** The first release with token scopes and an API for a person's permission. */
const giteaLeast = [1, 20] as const;
const byBranchesLeast = [1, 22] as const;
const repliesLeast = [1, 27] as const;

/** Forgejo adds its Gitea version to its own: `11.0.1+gitea-1.22.0`. */
async function readServer(api: ApiClient, signal: AbortSignal): Promise<GiteaServer | null> {
  const found = await mayLook(api, { path: "/version", answer: Type.Object({ version: Type.String() }) }, signal);
  if (!found) return null;
  const { version } = found.value;
  const [own = "", gitea] = version.split("+gitea-");
  // A build without a release has a word for its version, such as "development".
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(gitea ?? own) ?? [];
  const isSince = ([majorLeast, minorLeast]: readonly [number, number]) =>
    Number(major) > majorLeast || (Number(major) === majorLeast && Number(minor) >= minorLeast);
  return {
    name: gitea === undefined ? "Gitea" : "Forgejo",
    version: own,
    isTooOld: major !== undefined && !isSince(giteaLeast),
    findsByBranches: isSince(byBranchesLeast),
    hasReplies: isSince(repliesLeast),
  };
}

const Label = Type.Object({ id: Type.Integer(), name: Type.String() });
const pagesMax = 10;

/** Both requests add, so they are safe to retry. */
function ensureDetails(repository: GiteaRepository, number: number, signal: AbortSignal): Promise<void> {
  return tryEach(
    () => requestReviews(repository, number, signal),
    () => setLabels(repository, number, signal),
  );
}

async function requestReviews(repository: GiteaRepository, number: number, signal: AbortSignal): Promise<void> {
  const { api, path, settings } = repository;
  const { reviewers, teamReviewers } = settings;
  const approved = reviewers.length > 0 ? await listApprovers(repository, number, signal) : [];
  // Requesting a review from somebody who approved resets their approval.
  const asked = reviewers.filter((name) => !approved.includes(name.toLowerCase()));
  if (asked.length + teamReviewers.length === 0) return;
  const body = { reviewers: asked, team_reviewers: teamReviewers };
  const request = { path: `${path}/pulls/${number}/requested_reviewers`, body, what: "request reviews" };
  await api.call({ ...request, method: "POST", answer: Type.Array(Type.Unknown()) }, signal);
}

/** Every release takes labels by id. */
async function setLabels(repository: GiteaRepository, number: number, signal: AbortSignal): Promise<void> {
  const { api, path, settings, owner } = repository;
  const { labels } = settings;
  if (labels.length === 0) return;
  const page = { item: Label, sizeName: "limit", pageSize: 50, what: "read labels" } as const;
  const own = await listPages(api, { ...page, path: `${path}/labels` }, pagesMax, signal);
  const isEnough = labels.every((name) => own.some((label) => label.name === name));
  // An organization's labels are valid in all its repositories. A person has none, and the token may lack access.
  const shared = isEnough
    ? []
    : await listPages(api, { ...page, path: `/orgs/${encodeURIComponent(owner)}/labels` }, pagesMax, signal).catch(
        nothing,
      );
  const known = [...own, ...shared.filter(({ name }) => !own.some((label) => label.name === name))];
  const ids = known.filter((label) => labels.includes(label.name)).map((label) => label.id);
  if (ids.length > 0) {
    const request = { path: `${path}/issues/${number}/labels`, body: { labels: ids }, what: "set labels" };
    await api.call({ ...request, method: "POST", answer: Type.Array(Label) }, signal);
  }
  const missing = labels.filter((name) => !known.some((label) => label.name === name));
  if (missing.length === 0) return;
  throw new ForgeFault("forge_rejected", {
    publicMessage: `Neither the repository nor its organization has a label ${missing.join(", ")} that the token may read.`,
  });
}

function nothing(error: unknown): readonly never[] {
  if (isFault(error, "forge_rejected")) return [];
  throw error;
}

async function listApprovers(repository: GiteaRepository, number: number, signal: AbortSignal) {
  const latest = new Map<string, string>();
  for (const { user, state } of await listReviews(repository, number, signal)) {
    if (user && state && state !== "COMMENT") latest.set(user.login.toLowerCase(), state);
  }
  return [...latest].flatMap(([login, state]) => (state === "APPROVED" ? [login] : []));
}

const Protection = Type.Object({
  rule_name: Type.Optional(Type.String()),
  branch_name: Type.Optional(Type.String()),
  enable_push: Type.Boolean(),
  enable_push_whitelist: Type.Boolean(),
  push_whitelist_usernames: Type.Union([Type.Array(Type.String()), Type.Null()]),
  require_signed_commits: Type.Boolean(),
});
const Hook = Type.Object({ config: Type.Object({ url: Type.Optional(Type.String()) }), active: Type.Boolean() });

async function inspect(
  { api, path, server: askServer }: GiteaRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
  const server = await askServer(signal);
  const user = await mayLook(api, { path: "/user", answer: Type.Object({ login: Type.String() }) }, signal);
  const rules = await mayLook(api, { path: `${path}/branch_protections`, answer: Type.Array(Protection) }, signal);
  const hooks = await mayLook(api, { path: `${path}/hooks`, query: { limit: 50 }, answer: Type.Array(Hook) }, signal);
  const login = user?.value.login ?? null;
  const met = (rules?.value ?? []).flatMap((rule) => {
    const name = rule.rule_name || rule.branch_name || "";
    if (!matchesBranch(name, branch, { starCrossesSlash: false })) return [];
    const allowed = rule.push_whitelist_usernames ?? [];
    const isListed = login === null || allowed.includes(login);
    if (!rule.enable_push) return [`${name} is protected against every push`];
    if (rule.enable_push_whitelist && !isListed) return [`${name} is protected, and ${login} is not on its list`];
    return rule.require_signed_commits ? [`${name} accepts only signed commits`] : [];
  });
  return {
    server: server && `${server.name} ${server.version}`,
    account: login,
    expiresAt: null,
    lacks: server?.isTooOld ? [`${server.name} ${server.version} is too old: update to 1.20 or newer`] : [],
    unknownAuthors: await unknownAuthors({ api, path }, signal),
    branchRules: rules && met,
    webhooks:
      hooks?.value.map(({ config, active }) => ({ url: config.url ?? "", isActive: active, failure: null })) ?? null,
  };
}

async function unknownAuthors(repository: Pick<GiteaRepository, "api" | "path">, signal: AbortSignal) {
  const { api, path } = repository;
  const answer = Type.Object({ permissions: Type.Optional(Type.Object({ admin: Type.Boolean() })) });
  const own = await mayLook(api, { path, answer }, signal);
  if (own?.value.permissions?.admin) return null;
  const teams = await teamsThatOnlyRead(repository, signal);
  if (teams.length === 0) return null;
  return `Emend does not act on comments by team members, because ${teams.join(", ")} can only read and Gitea does not report their permissions. Make the token's owner an administrator of the repository`;
}

const Branch = Type.Object({ label: Type.String(), ref: Type.String(), sha: Type.String(), repo_id: Type.Integer() });
const OpenPull = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  title: Type.String(),
  body: Type.String(),
  merge_base: Type.String(),
  head: Branch,
  base: Branch,
});
const statusPagesMax = 6;

async function listOpenPullRequests(
  { api, path }: GiteaRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${path}/pulls`,
    query: { state: "open", sort: "recentupdate" },
    item: OpenPull,
    sizeName: "limit",
    pageSize: 50,
    what: "list pull requests",
  } as const;
  return (await listPages(api, request, statusPagesMax, signal)).map(toOpenPull);
}

function toOpenPull({ number, html_url: url, title, body, head, base }: Static<typeof OpenPull>): OpenPullRequest {
  const isFork = head.repo_id !== base.repo_id;
  // `ref` names another place once the branch is deleted; `label` stays.
  return { number, url, title, body, head: head.label || head.ref, base: base.ref, headCommit: head.sha, isFork };
}

async function readPullRequestCommits(
  { api, path }: GiteaRepository,
  { number }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const request = { path: `${path}/pulls/${number}`, answer: OpenPull, what: "read a pull request" };
  const outcome = await api.ask({ ...request, method: "GET" }, [404], signal);
  if (outcome.kind !== "ok" || outcome.value.merge_base === "" || outcome.value.head.sha === "") return null;
  return { head: outcome.value.head.sha, base: outcome.value.merge_base };
}

/** Gitea's `warning` would block where the status is required, so what must not block is a success. */
const states = { pending: "pending", passed: "success", neutral: "success", failed: "failure" } as const;

async function setStatus(
  { api, path }: GiteaRepository,
  { commit, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<null> {
  const body = { state: states[state], context: name, description: words, target_url: url };
  const request = { path: `${path}/statuses/${commit}`, body, answer: Type.Object({}), what: "set a commit status" };
  await api.call({ ...request, method: "POST" }, signal);
  return null;
}
