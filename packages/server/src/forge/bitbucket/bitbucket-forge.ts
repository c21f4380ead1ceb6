import { AppError } from "../../errors.ts";
import { createApiClient } from "../api-client.ts";
import { credentialIdOf } from "../credential-id.ts";
import { findAddress } from "../find-address.ts";
import type { Forge } from "../forge.ts";
import type { ForgeProject, RemoteForgeInput } from "../forge-project.ts";
import { ownedRepository, parseRepositoryAddress } from "../repository-address.ts";
import { authorizationsOf, type BitbucketRepository } from "./bitbucket-api.ts";
import { openConversation } from "./conversation.ts";
import { describeRepository, inspect } from "./inspect.ts";
import {
  createPullRequest,
  ensureDetails,
  findPullRequests,
  readPullRequest,
  updatePullRequest,
} from "./pull-requests.ts";

/** Bitbucket Cloud, by an access token, or by somebody's API token written as `email:token`. */
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
    createPullRequest: (draft, signal) => createPullRequest(repository, draft, signal),
    ensureDetails: hasDetails ? (number, signal) => ensureDetails(repository, number, signal) : null,
    readPullRequest: (number, signal) => readPullRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updatePullRequest(repository, number, change, signal),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress(repository, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
  };
}

/** bitbucket.org has its API on a host of its own. Bitbucket Data Center has another API, which this is not. */
export function locateBitbucket(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  // Bitbucket's own clone address names who looks at it; that is no credential.
  const plain = project.repositoryUrl.trim().replace(/^(https:\/\/)[\w.-]+@(?=(?:www\.)?bitbucket\.org\/)/i, "$1");
  const address = parseRepositoryAddress(plain, { mayBeHttp: given?.startsWith("http:") ?? false });
  const isCloud = ["bitbucket.org", "www.bitbucket.org"].includes(new URL(address.url).host);
  const apiUrl = (given ?? (isCloud ? "https://api.bitbucket.org/2.0" : `${address.origin}/2.0`)).replace(/\/+$/, "");
  if (!URL.canParse(apiUrl)) {
    throw new AppError("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  }
  const { owner, name } = ownedRepository(address, []);
  return { apiUrl, gitUrl: `${address.url}.git`, url: address.url, owner, name };
}
