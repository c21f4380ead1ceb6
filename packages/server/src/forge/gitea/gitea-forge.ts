import { AppError } from "../../errors.ts";
import { type ApiClient, createApiClient } from "../api-client.ts";
import { basicAuthorization, credentialIdOf } from "../credential-id.ts";
import { findAddress } from "../find-address.ts";
import type { Forge } from "../forge.ts";
import type { ForgeProject, ForgeSettings, RemoteForgeInput } from "../forge-project.ts";
import { folderOfApi, ownedRepository, parseRepositoryAddress } from "../repository-address.ts";
import { openConversation } from "./conversation.ts";
import { describeRepository } from "./describe-repository.ts";
import { ensureDetails } from "./ensure-details.ts";
import { inspect } from "./inspect.ts";
import { createPullRequest, findPullRequests, readPullRequest, updatePullRequest } from "./pull-requests.ts";
import { type GiteaServer, readServer } from "./read-server.ts";

/** What the functions on one repository of Gitea or Forgejo share. */
export interface GiteaRepository {
  api: ApiClient;
  settings: ForgeSettings;
  owner: string;
  /** `/repos/<owner>/<name>`. */
  path: string;
  /** Asked once; null where it does not say. */
  server(signal: AbortSignal): Promise<GiteaServer | null>;
}

/** Gitea and Forgejo, by an access token. */
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
    // Who asks next asks anew.
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
    // The one pair that every release of both takes for a token, whoever it belongs to.
    gitRemote: async () => ({ url: gitUrl, authorization: basicAuthorization(credential, "x-oauth-basic") }),
    findPullRequests: (search, signal) => findPullRequests(repository, search, signal),
    createPullRequest: (draft, signal) => createPullRequest(repository, draft, signal),
    ensureDetails: hasDetails ? (number, signal) => ensureDetails(repository, number, signal) : null,
    readPullRequest: (number, signal) => readPullRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updatePullRequest(repository, number, change, signal),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress({ ...repository, apiUrl }, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
  };
}

export function locateGitea(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  const address = parseRepositoryAddress(project.repositoryUrl, { mayBeHttp: given?.startsWith("http:") ?? false });
  const apiUrl = (given ?? `${address.origin}/api/v1`).replace(/\/+$/, "");
  const url = URL.parse(apiUrl);
  if (!url) throw new AppError("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  const { owner, name } = ownedRepository(address, folderOfApi(url, address, "/api/v1"));
  return { apiUrl, gitUrl: `${address.url}.git`, url: address.url, owner, name };
}
