import { assertNever } from "@emend/base/fault.ts";
import { type ForgeName, forgeNames } from "@emend/contract";
import { locateAzureDevops } from "./azure-devops/azure-devops-address.ts";
import { openAzureDevopsForge } from "./azure-devops/azure-devops-forge.ts";
import { locateBitbucket, openBitbucketForge } from "./bitbucket/bitbucket-forge.ts";
import { ForgeFault } from "./faults.ts";
import type { Forge, ForgeSettings, JudgedReach, RemoteForgeInput } from "./forge.ts";
import { listGiteaRepositories, locateGitea, openGiteaForge } from "./gitea/gitea-forge.ts";
import { locateGithub, openGithubForge } from "./github/github-forge.ts";
import { type GithubTokens, parseAppCredential } from "./github/github-token.ts";
import { listGithubRepositories } from "./github/list-repositories.ts";
import { locateGitlab, openGitlabForge } from "./gitlab/gitlab-forge.ts";
import { listGitlabRepositories } from "./gitlab/merge-requests.ts";
import type { ListInput, RepositoryPage } from "./repository-address.ts";

/**
 * A forge on a remote server, with URLs that the SSRF guard checks at each call: a host name that was public may resolve
 * to another address now.
 */
export function openJudgedForge(
  input: Omit<RemoteForgeInput, "fetch"> & { tokens: GithubTokens },
  reach: JudgedReach,
): Forge {
  const forge = openRemoteForge({ ...input, fetch: reach.fetch });
  return {
    ...forge,
    async gitRemote(signal) {
      const remote = await forge.gitRemote(signal);
      const addresses = await reach.addressesOf(remote.url);
      return addresses === null ? remote : { ...remote, addresses };
    },
  };
}

/** A forge on a remote server. */
export function openRemoteForge(input: RemoteForgeInput & { tokens: GithubTokens }): Forge {
  const name = knownForge(input.project.forge);
  switch (name) {
    case "local":
      throw new ForgeFault("internal", { publicMessage: "The local forge has no remote address." });
    case "github":
      return openGithubForge(input);
    case "gitlab":
      return openGitlabForge(input);
    case "gitea":
      return openGiteaForge(input);
    case "bitbucket":
      return openBitbucketForge(input);
    case "azure-devops":
      return openAzureDevopsForge(input);
    default:
      return assertNever(name);
  }
}

/** Refuses an unknown forge with a message for the user, before anything is stored. */
export function knownForge(name: string): ForgeName {
  const known = forgeNames.find((candidate) => candidate === name);
  if (known) return known;
  throw new ForgeFault("invalid_request", {
    publicMessage: `This release has no forge "${name}". It has: ${forgeNames.join(", ")}.`,
  });
}

/** The repository's URL in normal form. Refuses URLs that the forge cannot have. */
export function normalizeRepository(
  forge: Exclude<ForgeName, "local">,
  repositoryUrl: string,
  settings: ForgeSettings,
): { url: string; apiUrl: string } {
  const input = { repositoryUrl, settings };
  switch (forge) {
    case "github":
      return locateGithub(input);
    case "gitlab":
      return locateGitlab(input);
    case "gitea":
      return locateGitea(input);
    case "bitbucket":
      return locateBitbucket(input);
    case "azure-devops":
      return locateAzureDevops(input);
    default:
      return assertNever(forge);
  }
}

/** Refuses malformed tokens, and Apps without a key, before they are stored. */
export function checkCredential(forge: Exclude<ForgeName, "local">, credential: string): string {
  const plain = credential.trim();
  if (forge === "github" && parseAppCredential(plain)) return plain;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what a header cannot hold
  if (plain !== "" && plain.length <= 4096 && !/[\s\u0000-\u001f\u007f-\uffff]/.test(plain)) return plain;
  throw new ForgeFault("invalid_request", { publicMessage: "The token is empty, or contains spaces or line breaks." });
}

/** One page of the repositories that a credential reaches, for a person who chooses one. */
export async function listRepositories(
  forge: Exclude<ForgeName, "local">,
  input: ListInput,
  signal: AbortSignal,
): Promise<RepositoryPage> {
  switch (forge) {
    case "github":
      return listGithubRepositories(input, signal);
    case "gitlab":
      return listGitlabRepositories(input, signal);
    case "gitea":
      return listGiteaRepositories(input, signal);
    case "bitbucket":
      throw new ForgeFault("invalid_request", {
        publicMessage: "Bitbucket does not list the repositories of an access token. Enter the repository's address.",
      });
    case "azure-devops":
      throw new ForgeFault("invalid_request", {
        publicMessage:
          "An Azure DevOps token does not say which organizations it reaches. Enter the repository's address.",
      });
    default:
      return assertNever(forge);
  }
}
