import { AppError } from "../../errors.ts";
import { type ApiClient, createApiClient } from "../api-client.ts";
import { basicAuthorization, credentialIdOf } from "../credential-id.ts";
import { findAddress } from "../find-address.ts";
import type { Forge } from "../forge.ts";
import type { ForgeProject, ForgeSettings, RemoteForgeInput } from "../forge-project.ts";
import { below, folderOfApi, parseRepositoryAddress } from "../repository-address.ts";
import { openConversation } from "./conversation.ts";
import { describeRepository } from "./describe-repository.ts";
import { ensureReviewers } from "./ensure-reviewers.ts";
import { inspect } from "./inspect.ts";
import { createMergeRequest, findMergeRequests, readMergeRequest, updateMergeRequest } from "./merge-requests.ts";

/** What the functions on one project of GitLab share. */
export interface GitlabRepository {
  api: ApiClient;
  settings: ForgeSettings;
  /** `/projects/<its path, encoded>`. */
  path: string;
}

/** gitlab.com and self-managed GitLab, by a project, group or personal token. */
export function openGitlabForge(input: RemoteForgeInput): Forge {
  const { project, credential } = input;
  const { apiUrl, gitUrl, projectPath } = locateGitlab(project);
  const api = createApiClient({
    fetch: input.fetch,
    forge: "GitLab",
    apiUrl,
    authorization: async () => `Bearer ${credential}`,
    ...(input.polling && { polling: input.polling }),
  });
  const { settings } = project;
  const repository: GitlabRepository = { api, settings, path: `/projects/${encodeURIComponent(projectPath)}` };
  return {
    name: "gitlab",
    credentialId: credentialIdOf("gitlab", apiUrl, credential),
    showsChecks: false,
    commits: null,
    gitRemote: async () => ({ url: gitUrl, authorization: basicAuthorization("oauth2", credential) }),
    findPullRequests: (search, signal) => findMergeRequests(repository, search, signal),
    createPullRequest: (draft, signal) => createMergeRequest(repository, draft, signal),
    ensureDetails:
      settings.reviewers.length > 0 ? (number, signal) => ensureReviewers(repository, number, signal) : null,
    readPullRequest: (number, signal) => readMergeRequest(repository, number, signal),
    updatePullRequest: (number, change, signal) => updateMergeRequest(repository, number, change, signal),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress({ ...repository, apiUrl }, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
  };
}

/** Groups nest as deep as people like; only the API's address tells whether GitLab itself lies in a folder. */
export function locateGitlab(project: Pick<ForgeProject, "repositoryUrl" | "settings">) {
  const given = project.settings.apiUrl;
  const address = parseRepositoryAddress(project.repositoryUrl, { mayBeHttp: given?.startsWith("http:") ?? false });
  const apiUrl = (given ?? `${address.origin}/api/v4`).replace(/\/+$/, "");
  const url = URL.parse(apiUrl);
  if (!url) throw new AppError("invalid_request", { publicMessage: `The API's address is not a URL: ${apiUrl}` });
  const projectPath = below(address, folderOfApi(url, address, "/api/v4")).join("/");
  return { apiUrl, gitUrl: `${address.url}.git`, url: address.url, projectPath };
}
