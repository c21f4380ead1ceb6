import { Type } from "typebox";
import { basicAuthorization, credentialIdOf, mayLook } from "../api-client.ts";
import { ForgeFault } from "../faults.ts";
import type {
  Forge,
  ForgeInspection,
  ForgeProject,
  ForgeSettings,
  RemoteForgeInput,
  RepositoryDescription,
} from "../forge.ts";
import { tryEach } from "../pull-request-calls.ts";
import { findAddress, folderOfApi, ownedRepository, parseRepositoryAddress } from "../repository-address.ts";
import { openChecks } from "./checks.ts";
import { openCommits } from "./commits.ts";
import type { GithubRepository } from "./github-token.ts";
import { createGithubClient, type GithubTokens, isAppCredential, tokenSourceOf } from "./github-token.ts";
import { openIssues } from "./issues.ts";
import { mergePullRequest } from "./merge.ts";
import {
  closePullRequest,
  createPullRequest,
  findPullRequests,
  listOpenPullRequests,
  listReviews,
  openConversation,
  readPullRequest,
  readPullRequestCommits,
  setStatus,
  updatePullRequest,
} from "./pull-requests.ts";

/** GitHub and GitHub Enterprise Server, with a fine-grained token or an App. */
export function openGithubForge(input: RemoteForgeInput & { tokens: GithubTokens }): Forge {
  const { project } = input;
  const { apiUrl, gitUrl, owner, name } = locateGithub(project);
  const source = tokenSourceOf({ ...input, apiUrl, repositoryPath: `${owner}/${name}` });
  const access = {
    fetch: input.fetch,
    authorization: async (signal: AbortSignal) => `Bearer ${await source.token(signal)}`,
    renew: (refused: string) => source.drop(refused.replace("Bearer ", "")),
  };
  const api = createGithubClient({ ...access, apiUrl, ...(input.polling && { polling: input.polling }) });
  const graph = createGithubClient({ ...access, apiUrl: apiUrl.replace(/\/v3$/, "") });
  const { labels, reviewers, teamReviewers, verifiedCommits } = project.settings;
  const signsCommits = verifiedCommits && isAppCredential(input.credential);
  const repository: GithubRepository = {
    api,
    graph,
    owner,
    path: `/repos/${owner}/${name}`,
    signsCommits,
    permissions: source.permissions,
  };
  const hasDetails = labels.length + reviewers.length + teamReviewers.length > 0;
  return {
    name: "github",
    credentialId: credentialIdOf("github", apiUrl, input.credential),
    showsChecks: false,
    commits: signsCommits ? openCommits(repository) : null,
    gitRemote: async (signal) => ({
      url: gitUrl,
      authorization: basicAuthorization(
        "x-access-token",
        await source.checked(() => describeRepository(repository, signal), signal),
      ),
    }),
    findPullRequests: (search, signal) => findPullRequests(repository, search, signal),
    // GitHub ends a request after 10 s. The rest is for its queues.
    effectSecondsMax: 60,
    closePullRequest: (number, signal) => closePullRequest(repository, number, signal),
    mergePullRequest: (input, signal) => mergePullRequest(repository, input, signal),
    pullRef: (number) => `refs/pull/${number}/head`,
    createPullRequest: (draft, signal) => createPullRequest(repository, draft, signal),
    ensureDetails: hasDetails ? (number, signal) => ensureDetails(repository, project.settings, number, signal) : null,
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

/** github.com and ghe.com have their API on a separate host. An Enterprise Server has it at `/api/v3`. */
export function locateGithub(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  const address = parseRepositoryAddress(project.repositoryUrl, { mayBeHttp: given?.startsWith("http:") ?? false });
  const { host, origin } = new URL(address.url);
  const apiUrl = given ?? defaultApi(host, origin);
  const url = URL.parse(apiUrl);
  if (!url) throw new ForgeFault("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  const { owner, name } = ownedRepository(address, folderOfApi(url, address, "/api/v3"));
  return { apiUrl: apiUrl.replace(/\/+$/, ""), gitUrl: `${address.url}.git`, url: address.url, owner, name };
}

function defaultApi(host: string, origin: string): string {
  if (host === "github.com" || host === "www.github.com") return "https://api.github.com";
  return host.endsWith(".ghe.com") ? `https://api.${host}` : `${origin}/api/v3`;
}

const GithubRepositoryAnswer = Type.Object({
  full_name: Type.String(),
  default_branch: Type.String(),
  archived: Type.Boolean(),
  permissions: Type.Optional(Type.Object({ push: Type.Boolean() })),
});

async function describeRepository(
  { api, path, permissions }: GithubRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const what = "read the repository";
  const found = await api.call({ method: "GET", path, answer: GithubRepositoryAnswer, what }, signal);
  // For installation tokens GitHub always answers `push: false`. An App's permissions are those of its token.
  const granted = permissions && (await permissions(signal));
  const mayAs = (name: string) => granted && granted[name] === "write";
  return {
    path: found.full_name,
    defaultBranch: found.default_branch,
    archived: found.archived,
    // For a fine-grained token this is its owner's permission, not the token's.
    mayPush: permissions ? mayAs("contents") : (found.permissions?.push ?? null),
    mayOpenPullRequests: permissions ? mayAs("pull_requests") : null,
  };
}

/** GitHub accepts neither when a pull request is created. Both requests add, so they are safe to retry. */
function ensureDetails(
  { api, path }: GithubRepository,
  { labels, reviewers, teamReviewers }: ForgeSettings,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  async function setLabels(): Promise<void> {
    if (labels.length === 0) return;
    const request = { path: `${path}/issues/${number}/labels`, body: { labels }, what: "set labels" };
    await api.call({ ...request, method: "POST", answer: Type.Array(Type.Unknown()) }, signal);
  }
  async function requestReviews(): Promise<void> {
    const approved = reviewers.length > 0 ? await listApprovers({ api, path }, number, signal) : [];
    // Requesting a review from somebody who approved resets their approval.
    const asked = reviewers.filter((name) => !approved.includes(name.toLowerCase()));
    if (asked.length + teamReviewers.length === 0) return;
    const body = { reviewers: asked, team_reviewers: teamReviewers };
    const request = { path: `${path}/pulls/${number}/requested_reviewers`, body, what: "request reviews" };
    await api.call({ ...request, method: "POST", answer: Type.Object({}) }, signal);
  }
  return tryEach(setLabels, requestReviews);
}

async function listApprovers(
  repository: Pick<GithubRepository, "api" | "path">,
  number: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const latest = new Map<string, string>();
  for (const { user, state } of await listReviews(repository, number, signal)) {
    if (user && state !== "COMMENTED") latest.set(user.login.toLowerCase(), state);
  }
  return [...latest].flatMap(([login, state]) => (state === "APPROVED" ? [login] : []));
}

const Hook = Type.Object({
  active: Type.Boolean(),
  config: Type.Object({ url: Type.Optional(Type.String()) }),
  last_response: Type.Optional(Type.Object({ code: Type.Union([Type.Integer(), Type.Null()]) })),
});
const Rule = Type.Object({ type: Type.String() });

/** The GitHub rules that can reject the push of a new branch. */
const refusing: Readonly<Record<string, string>> = {
  creation: "it may not be created",
  update: "it may not be pushed to",
  pull_request: "it can change only through pull requests",
  required_status_checks: "its commits must have passed checks before they are pushed",
  required_signatures: "its commits must be signed: use an App with --verified",
  branch_name_pattern: "its name must follow a pattern",
  commit_message_pattern: "its commits' messages must follow a pattern",
  commit_author_email_pattern: "its commits' authors must follow a pattern",
  committer_email_pattern: "its commits' committers must follow a pattern",
  file_path_restriction: "some of its paths may not change",
};

async function inspect(
  { api, path, signsCommits }: GithubRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
  const user = await mayLook(api, { path: "/user", answer: Type.Object({ login: Type.String() }) }, signal);
  const rulesPath = `${path}/rules/branches/${branch.split("/").map(encodeURIComponent).join("/")}`;
  const rules = await mayLook(api, { path: rulesPath, query: { per_page: 100 }, answer: Type.Array(Rule) }, signal);
  const hooks = await mayLook(
    api,
    { path: `${path}/hooks`, query: { per_page: 100 }, answer: Type.Array(Hook) },
    signal,
  );
  const types = (rules?.value ?? [])
    .map(({ type }) => type)
    .filter((type) => !(signsCommits && type === "required_signatures"));
  return {
    server: null,
    account: user?.value.login ?? null,
    expiresAt: expiryIn(user?.headers),
    lacks: lackIn(user?.headers),
    branchRules: rules && [...new Set(types)].map((type) => refusing[type]).filter((words) => words !== undefined),
    webhooks:
      hooks?.value.map(({ active, config, last_response: last }) => ({
        url: config.url ?? "",
        isActive: active,
        failure: last?.code && last.code >= 400 ? `it was answered ${last.code}` : null,
      })) ?? null,
  };
}

/** Fine-grained tokens state when they expire. */
function expiryIn(headers?: Headers): Date | null {
  const text = headers?.get("github-authentication-token-expiration");
  // `2026-12-31 23:59:59 UTC`, or with an offset: `2026-12-31 23:59:59 -0800`.
  const written = text
    ?.replace(/ UTC$/, "Z")
    .replace(/ ([+-]\d\d):?(\d\d)$/, "$1:$2")
    .replace(" ", "T");
  const date = written ? new Date(written) : null;
  return date && Number.isFinite(date.getTime()) ? date : null;
}

/** Classic tokens list their scopes. Others send no such header. */
function lackIn(headers?: Headers): readonly string[] {
  const scopes = headers?.get("x-oauth-scopes");
  if (!scopes) return [];
  const given = scopes.split(",").map((scope) => scope.trim());
  return given.includes("repo") || given.includes("public_repo") ? [] : ["the scope repo"];
}
