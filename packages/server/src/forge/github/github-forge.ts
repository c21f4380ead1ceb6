import { AppError } from "../../errors.ts";
import type { ApiClient } from "../api-client.ts";
import { basicAuthorization, credentialIdOf } from "../credential-id.ts";
import { findAddress } from "../find-address.ts";
import type { Forge } from "../forge.ts";
import type { ForgeProject, RemoteForgeInput } from "../forge-project.ts";
import { folderOfApi, ownedRepository, parseRepositoryAddress } from "../repository-address.ts";
import { openCommits } from "./commits.ts";
import { openConversation } from "./conversation.ts";
import { describeRepository } from "./describe-repository.ts";
import { ensureDetails } from "./ensure-details.ts";
import { createGithubClient } from "./github-client.ts";
import { type GithubTokens, isAppCredential, type TokenSource, tokenSourceOf } from "./github-token.ts";
import { inspect } from "./inspect.ts";
import { createPullRequest, findPullRequests, readPullRequest, updatePullRequest } from "./pull-requests.ts";

/** What the functions on one repository of GitHub share. */
export interface GithubRepository {
  api: ApiClient;
  owner: string;
  /** `/repos/<owner>/<name>`. */
  path: string;
  /** GitHub makes the commits. */
  signsCommits: boolean;
  /** Of an App: what its token may do. */
  permissions: TokenSource["permissions"];
}

/** GitHub and GitHub Enterprise Server, by a fine-grained token or as an App. */
export function openGithubForge(input: RemoteForgeInput & { tokens: GithubTokens }): Forge {
  const { project } = input;
  const { apiUrl, gitUrl, owner, name } = locateGithub(project);
  const source = tokenSourceOf({ ...input, apiUrl, repositoryPath: `${owner}/${name}` });
  const api = createGithubClient({
    fetch: input.fetch,
    apiUrl,
    authorization: async (signal) => `Bearer ${await source.token(signal)}`,
    ...(input.polling && { polling: input.polling }),
  });
  const { labels, reviewers, teamReviewers, verifiedCommits } = project.settings;
  const signsCommits = verifiedCommits && isAppCredential(input.credential);
  const repository: GithubRepository = {
    api,
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
      authorization: basicAuthorization("x-access-token", await source.token(signal)),
    }),
    findPullRequests: (search, signal) => findPullRequests(repository, search, signal),
    createPullRequest: (draft, signal) => createPullRequest(repository, draft, signal),
    ensureDetails: hasDetails ? (number, signal) => ensureDetails(repository, project.settings, number, signal) : null,
    readPullRequest: (number, signal) => readPullRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updatePullRequest(repository, number, change, signal),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress({ ...repository, apiUrl }, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
  };
}

/** github.com has its API on a host of its own, and so has ghe.com; a server of one's own has it below `/api/v3`. */
export function locateGithub(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  const address = parseRepositoryAddress(project.repositoryUrl, { mayBeHttp: given?.startsWith("http:") ?? false });
  const { host, origin } = new URL(address.url);
  const apiUrl = given ?? defaultApi(host, origin);
  const url = URL.parse(apiUrl);
  if (!url) throw new AppError("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  const { owner, name } = ownedRepository(address, folderOfApi(url, address, "/api/v3"));
  return { apiUrl: apiUrl.replace(/\/+$/, ""), gitUrl: `${address.url}.git`, url: address.url, owner, name };
}

function defaultApi(host: string, origin: string): string {
  if (host === "github.com" || host === "www.github.com") return "https://api.github.com";
  return host.endsWith(".ghe.com") ? `https://api.${host}` : `${origin}/api/v3`;
}
