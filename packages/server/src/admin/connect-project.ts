import type { ForgeName } from "@emend/contract";
import { addProject, plainFolder } from "../accounts/projects/add-project.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError, isAppError } from "../errors.ts";
import type { ForgeProject } from "../forge/forge-project.ts";
import { isAppCredential } from "../forge/github/github-token.ts";
import { checkCredential, normalizeRepository, openJudgedForge, openRemoteForge } from "../forge/registry.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import { gitNetwork, localGit } from "../installation/local-git.ts";
import { newId } from "../lib/id.ts";
import { createFetch } from "../lib/network.ts";
import { assertBranch, assertFolder } from "../tree/mirror/resolve-base.ts";

export interface NewRemoteProject {
  /** Set if it had to be known before. */
  id?: string;
  name: string;
  repo?: string;
  base?: string;
  docsDir?: string;
  credential?: string;
  settings?: unknown;
}

export interface ConnectDeps {
  config: Config;
  db: Queryable;
  sealer: Sealer;
}

export interface ConnectedProject {
  id: string;
  repositoryUrl: string;
  /** Why the repository could not be checked, for the person who adds it. */
  notice?: string;
}

const lookMsMax = 15_000;

/**
 * Adds a project on a remote forge. The repository is checked first, with the given token: what can never work is
 * refused now and not after the first job has done its work.
 */
export async function connectProject(
  deps: ConnectDeps,
  forge: Exclude<ForgeName, "local">,
  input: NewRemoteProject,
): Promise<ConnectedProject> {
  if (!input.repo) throw refused("A project of this forge needs the address of its repository.");
  if (!input.credential) throw refused("A project of this forge needs a token.");
  const id = input.id ?? newId("prj");
  const settings = parseProjectSettings(input.settings).forge;
  const { url } = normalizeRepository(forge, input.repo, settings);
  const credential = checkCredential(forge, input.credential);
  if (settings.verifiedCommits && !(forge === "github" && isAppCredential(credential))) {
    throw refused("Only a GitHub App's commits can be verified: connect the project through an App.");
  }
  const away = await look(
    deps.config,
    { id, forge, repositoryUrl: url, settings },
    {
      credential,
      base: input.base ?? null,
      folder: plainFolder(input.docsDir ?? ""),
    },
  );
  const { repositoryUrl } = await addProject(deps, {
    id,
    name: input.name,
    forge,
    repositoryUrl: url,
    baseRef: input.base ?? null,
    docsDir: input.docsDir ?? "",
    settings: input.settings,
    credential,
  });
  return { id, repositoryUrl, ...(away !== null && { notice: noticeOf(away) }) };
}

function noticeOf(away: string): string {
  return `${away} So nothing was checked: jobs will wait for it. If the address is wrong, set another one (emend project set, or the page of the project).`;
}

/** Null, or a message if the forge was unavailable. Throws if it can never work. */
export async function look(
  config: Config,
  project: ForgeProject,
  { credential, base, folder }: { credential: string; base: string | null; folder: string },
): Promise<string | null> {
  const [network, reach] = [createFetch(config.network), createForgeReach(config)];
  const signal = AbortSignal.timeout(lookMsMax);
  try {
    const input = { project, credential, fetch: network.fetch, tokens: new Map() };
    const forge = project.settings.isJudged ? openJudgedForge(input, reach) : openRemoteForge(input);
    const found = await forge.describeRepository(signal);
    if (found.archived) throw rejected(`${found.path} is archived: nothing can be pushed to it.`);
    if (!project.repositoryUrl.toLowerCase().endsWith(`/${found.path.toLowerCase()}`)) {
      throw rejected(`The repository is called ${found.path} now: give its new address.`);
    }
    const isApp = isAppCredential(credential);
    if (found.mayPush === false) {
      throw rejected(
        isApp
          ? "The App may not push: give it the repository permission Contents: read and write."
          : "The token's owner may not push to this repository.",
      );
    }
    if (isApp && found.mayOpenPullRequests === false) {
      throw rejected("The App may not open pull requests: give it Pull requests: read and write.");
    }
    if (base === null && folder === "") return null;
    const [git, remote] = [localGit(await gitNetwork(config)), await forge.gitRemote(signal)];
    if (base !== null) await assertBranch(git, remote, base, signal);
    await assertFolder(git, { remote, baseRef: base, folder }, signal);
    return null;
  } catch (error) {
    // An unavailable forge is not a reason to refuse: jobs will wait for it too.
    if (isAppError(error, "forge_unavailable")) return error.publicMessage;
    if ((error as Error)?.name === "TimeoutError") {
      return `${new URL(project.repositoryUrl).host} did not answer within ${lookMsMax / 1000} seconds.`;
    }
    const isRefusal = isAppError(error, "forge_rejected") || isAppError(error, "repository_unavailable");
    if (isRefusal && !error.retryable) throw refused(error.publicMessage, error);
    throw error;
  } finally {
    await Promise.all([network.close(), reach.close()]);
  }
}

/** The forge's response as an error of the request. The cause distinguishes it from invalid input. */
function rejected(publicMessage: string): AppError {
  return new AppError("forge_rejected", { publicMessage });
}

function refused(publicMessage: string, cause?: AppError): AppError {
  return new AppError("invalid_request", { publicMessage, cause });
}
