import { Type } from "typebox";
import { createApiClient, credentialIdOf, mayLook } from "../api-client.ts";
import type { Forge, ForgeInspection, ForgeWebhook, RemoteForgeInput, RepositoryDescription } from "../forge.ts";
import { findAddress } from "../repository-address.ts";
import { encoded, locateAzureDevops } from "./azure-devops-address.ts";
import {
  type AzureDevopsRepository,
  apiVersion,
  authorizationOf,
  branchOf,
  isSignIn,
  listed,
  refOf,
} from "./azure-devops-api.ts";
import { openChecks } from "./checks.ts";
import { completePullRequest } from "./merge.ts";
import {
  closePullRequest,
  createPullRequest,
  descriptionLengthMax,
  ensureDetails,
  findPullRequests,
  listOpenPullRequests,
  readPullRequest,
  updatePullRequest,
} from "./pull-requests.ts";
import { readPullRequestCommits, setStatus } from "./statuses.ts";
import { openConversation } from "./threads.ts";
import { gitPermissions, Ids, readAccessLists, readOwnPermission } from "./write-access.ts";

/** Azure DevOps Services and Server, with a personal access token or a token of Microsoft Entra. */
export function openAzureDevopsForge(input: RemoteForgeInput): Forge {
  const { project, credential } = input;
  const { url, apiUrl, identityUrl, path, owner, project: projectName } = locateAzureDevops(project);
  const authorization = authorizationOf(credential);
  const clientOf = (base: string) =>
    createApiClient({
      fetch: input.fetch,
      forge: "Azure DevOps",
      apiUrl: base,
      query: { "api-version": apiVersion },
      authorization: async () => authorization,
      isSignIn,
      ...(input.polling && { polling: input.polling }),
    });
  const { settings } = project;
  const api = clientOf(apiUrl);
  const identities = identityUrl === apiUrl ? api : clientOf(identityUrl);
  const repository: AzureDevopsRepository = { api, identities, settings, url, path, owner, project: projectName };
  const hasDetails = settings.labels.length + settings.reviewers.length + settings.teamReviewers.length > 0;
  return {
    name: "azure-devops",
    credentialId: credentialIdOf("azure-devops", apiUrl, credential),
    showsChecks: false,
    bodyLengthMax: descriptionLengthMax,
    commits: null,
    gitRemote: async () => ({ url, authorization }),
    findPullRequests: (search, signal) => findPullRequests(repository, search, signal),
    // Microsoft does not document a limit.
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
    mergePullRequest: (input, signal) => completePullRequest(repository, input, signal),
    describeRepository: (signal) => describeRepository(repository, signal),
    findAddress: (signal) => findAddress({ api, path, apiUrl }, signal),
    inspect: (branch, signal) => inspect(repository, branch, signal),
    conversation: openConversation(repository),
    issues: null,
  };
}

const Repository = Type.Intersect([
  Ids,
  Type.Object({
    name: Type.String(),
    project: Type.Object({ name: Type.String() }),
    /** Absent if nothing was pushed yet. */
    defaultBranch: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    isDisabled: Type.Optional(Type.Boolean()),
  }),
]);
const Account = Type.Object({
  authenticatedUser: Type.Object({
    providerDisplayName: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    customDisplayName: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
});
const Policy = Type.Object({
  isEnabled: Type.Boolean(),
  isBlocking: Type.Boolean(),
  type: Type.Object({ displayName: Type.Optional(Type.String()) }),
});
const Text = Type.Optional(Type.Union([Type.String(), Type.Null()]));
const Subscription = Type.Object({
  status: Type.Optional(Type.String()),
  publisherInputs: Type.Optional(Type.Object({ projectId: Text, repository: Text })),
  consumerInputs: Type.Optional(Type.Object({ url: Text })),
});

function readRepository({ api, path }: AzureDevopsRepository, signal: AbortSignal) {
  return api.call({ method: "GET", path, answer: Repository, what: "read the repository" }, signal);
}

/** A disabled repository is what other hosts call archived. */
async function describeRepository(
  repository: AzureDevopsRepository,
  signal: AbortSignal,
): Promise<RepositoryDescription> {
  const { id, name, project, defaultBranch, isDisabled } = await readRepository(repository, signal);
  const token = `repoV2/${project.id}/${id}`;
  const { contribute, createBranch, contributeToPullRequests } = gitPermissions;
  const mayPush = await readOwnPermission(repository, token, contribute + createBranch, signal);
  const mayOpen = await readOwnPermission(repository, token, contributeToPullRequests, signal);
  return {
    path: `${repository.owner}/${encoded(project.name)}/_git/${encoded(name)}`,
    defaultBranch: defaultBranch ? branchOf(defaultBranch) : null,
    archived: isDisabled ?? false,
    mayPush,
    mayOpenPullRequests: mayOpen,
  };
}

async function inspect(
  repository: AzureDevopsRepository,
  branch: string,
  signal: AbortSignal,
): Promise<ForgeInspection> {
  const { api, project: projectName } = repository;
  const { id, project } = await readRepository(repository, signal);
  // Every client of Microsoft's begins with this request, which has no version of its own yet.
  const asked = { path: "/_apis/connectionData", query: { "api-version": "7.1-preview" }, answer: Account };
  const account = (await mayLook(api, asked, signal))?.value.authenticatedUser;
  const query = { repositoryId: id, refName: refOf(branch) };
  const policies = await mayLook(
    api,
    { path: `/${projectName}/_apis/git/policy/configurations`, query, answer: listed(Policy) },
    signal,
  );
  const hooks = await mayLook(
    api,
    {
      path: "/_apis/hooks/subscriptions",
      query: { publisherId: "tfs", consumerId: "webHooks" },
      answer: listed(Subscription),
    },
    signal,
  );
  const blocking = policies?.value.value.filter(({ isEnabled, isBlocking }) => isEnabled && isBlocking);
  return {
    server: null,
    account: account?.customDisplayName || account?.providerDisplayName || null,
    expiresAt: null,
    lacks: [],
    unknownAuthors: (await knowsAuthors(repository, signal))
      ? null
      : "Emend does not act on comments, because the token may not read people's permissions. Give it the scopes Identity: read and Security: manage",
    branchRules:
      blocking?.map(({ type }) => `the branch policy "${type.displayName ?? "unnamed"}" asks for a pull request`) ??
      null,
    webhooks:
      hooks?.value.value
        .filter((one) => isAbout(one.publisherInputs, project.id, id))
        .flatMap(({ consumerInputs, status }) =>
          consumerInputs?.url ? [webhookOf(consumerInputs.url, status)] : [],
        ) ?? null,
  };
}

async function knowsAuthors(repository: AzureDevopsRepository, signal: AbortSignal): Promise<boolean> {
  const query = { searchFilter: "General", filterValue: "emend" };
  const people = await mayLook(
    repository.identities,
    { path: "/_apis/identities", query, answer: Type.Object({}) },
    signal,
  );
  return people !== null && (await readAccessLists(repository, signal)) !== null;
}

function isAbout(
  inputs: { projectId?: string | null; repository?: string | null } | undefined,
  project: string,
  repository: string,
): boolean {
  const isOf = (told: string | null | undefined, id: string) => !told || told.toLowerCase() === id.toLowerCase();
  return isOf(inputs?.projectId, project) && isOf(inputs?.repository, repository);
}

/** "On probation" means that deliveries failed and are tried less often. */
function webhookOf(url: string, status = "enabled"): ForgeWebhook {
  const failures: Readonly<Record<string, string>> = {
    onProbation: "its deliveries fail",
    disabledBySystem: "Azure DevOps turned it off after failed deliveries",
    disabledByInactiveIdentity: "the account that created it is inactive",
  };
  return { url, isActive: status === "enabled" || status === "onProbation", failure: failures[status] ?? null };
}
