import { rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ForgeName } from "@emend/contract";
import {
  checkCredential,
  type ForgeProject,
  isAppCredential,
  knownForge,
  normalizeRepository,
  openJudgedForge,
} from "@emend/forges";
import { assertBranch, assertFolder, type Git } from "@emend/tree";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import { credentialContext, openProjectCredential, requireProject } from "../accounts/projects/projects.ts";
import { addProject, plainFolder } from "../accounts/projects/save-project.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError, isAppError } from "../errors.ts";
import { createLocalRepository } from "../forge/local/create-repository.ts";
import { assertLocalForgeUsable } from "../forge/local/repository.ts";
import { type ForgeDeps, openForge } from "../forge/open-forge.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import { gitNetwork, localGit } from "../installation/local-git.ts";
import { isTrustedOrigin, trustOrigins } from "../installation/trusted-origins.ts";
import { newId } from "../lib/id.ts";

export interface NewRemoteProject {
  /** Set if it had to be known before. */
  id?: string;
  name: string;
  /**
   * The repository's URL. On the local forge: a git repository or a plain folder to import. Absent: an empty
   * repository.
   */
  repo?: string;
  base?: string;
  docsDir?: string;
  /** The forge's token, or a GitHub App as JSON. */
  credential?: string;
  settings?: unknown;
}

export interface ConnectDeps {
  config: Config;
  db: Queryable;
  sealer: Sealer;
  /** Where somebody with access to the machine types addresses: those servers are trusted from now on. */
  isConsole: boolean;
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
  const { url, apiUrl } = normalizeRepository(forge, input.repo, settings);
  const credential = checkCredential(forge, input.credential);
  if (settings.verifiedCommits && !(forge === "github" && isAppCredential(credential))) {
    throw refused("Only a GitHub App's commits can be verified: connect the project through an App.");
  }
  const away = await look(
    deps,
    { id, forge, repositoryUrl: url, settings },
    {
      credential,
      base: input.base ?? null,
      folder: plainFolder(input.docsDir ?? ""),
    },
  );
  if (deps.isConsole) await trustOrigins(deps.db, [url, apiUrl]);
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
async function look(
  { config, db, isConsole }: Omit<ConnectDeps, "sealer">,
  project: ForgeProject,
  { credential, base, folder }: { credential: string; base: string | null; folder: string },
): Promise<string | null> {
  const reach = createForgeReach(config, { isTrusted: async (origin) => isConsole || isTrustedOrigin(db, origin) });
  const signal = AbortSignal.timeout(lookMsMax);
  try {
    const forge = openJudgedForge({ project, credential, tokens: new Map() }, reach);
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
    await reach.close();
  }
}

/** The forge's response as an error of the request. The cause distinguishes it from invalid input. */
function rejected(publicMessage: string): AppError {
  return new AppError("forge_rejected", { publicMessage });
}

function refused(publicMessage: string, cause?: AppError): AppError {
  return new AppError("invalid_request", { publicMessage, cause });
}

/** The server could not push to a repository that somebody else, such as root, creates beside its own. */
async function refuseOtherOwner(forgeDir: string): Promise<void> {
  const folder = (await stat(forgeDir).catch(() => null)) ?? (await stat(dirname(forgeDir)).catch(() => null));
  const user = process.getuid?.();
  if (!folder || user === undefined || folder.uid === user) return;
  throw refused(
    `The server's repositories in ${forgeDir} belong to the user with the id ${folder.uid}. ` +
      `Run the command as that user: sudo --user='#${folder.uid}' emend project add …`,
  );
}

interface LocalProjectDeps {
  config: Config;
  db: Queryable;
  sealer: Sealer;
  git: Git;
  forgeDir: string;
  publicUrl(): Promise<string>;
}

const importMsMax = 10 * 60_000;

/** Adds a project whose repository Emend hosts. If the project is refused, its new repository is deleted again. */
export async function addLocalProject(
  deps: LocalProjectDeps,
  input: Omit<NewRemoteProject, "id" | "credential">,
): Promise<ConnectedProject> {
  assertLocalForgeUsable(deps.config);
  await refuseOtherOwner(deps.forgeDir);
  const id = newId("prj");
  const repository = join(deps.forgeDir, `${id}.git`);
  const signal = AbortSignal.timeout(importMsMax);
  await createLocalRepository(deps, { projectId: id, importFrom: input.repo ?? null }, signal);
  try {
    // An empty repository has no branch until its first push.
    if (input.repo) {
      const remote = { url: pathToFileURL(repository).href, authorization: null };
      if (input.base) await assertBranch(deps.git, remote, input.base, signal);
      const folder = plainFolder(input.docsDir ?? "");
      await assertFolder(deps.git, { remote, baseRef: input.base ?? null, folder }, signal);
    }
    const { repositoryUrl } = await addProject(deps, {
      id,
      name: input.name,
      forge: "local",
      repositoryUrl: `${await deps.publicUrl()}/git/${id}.git`,
      baseRef: input.base ?? null,
      docsDir: input.docsDir ?? "",
      settings: input.settings,
    });
    return { id, repositoryUrl };
  } catch (error) {
    await rm(repository, { recursive: true, force: true });
    throw error;
  }
}

export interface MoveInput {
  projectId: string;
  /** The repository's new URL; `follow`: the one that the forge reports. */
  repo?: string | "follow";
  /** Replaces the token. Required if the new URL is on another server. */
  credential?: string;
}

/**
 * Changes a project's repository URL, its token, or both. They are checked first, as for a new project: what cannot
 * work is refused, and nothing changes.
 */
export async function moveProject(
  deps: ConnectDeps & { forges: ForgeDeps },
  input: MoveInput,
  signal: AbortSignal,
): Promise<ConnectedProject> {
  const project = await requireProject(deps.db, input.projectId);
  const forge = knownForge(project.forge);
  if (forge === "local") throw refused("A project of the local forge has no other address, and needs no token.");
  const wanted = input.repo === "follow" ? await followed() : (input.repo ?? project.repositoryUrl);
  const { url, apiUrl } = normalizeRepository(forge, wanted, project.settings.forge);
  const given = input.credential === undefined ? null : checkCredential(forge, input.credential);
  // A token is only sent to the server that it was given for.
  if (given === null && new URL(url).origin !== new URL(project.repositoryUrl).origin) {
    throw refused("The new address is on another server. Give a token for that server as well.");
  }
  const credential = given ?? (await openProjectCredential(deps, project.id));
  if (credential === null) throw refused("The project has no token. Give one as well.");
  const isOther = input.repo !== "follow" && url !== project.repositoryUrl && !(await isRenamedTo(url));
  if (isOther) await assertNothingOpen(deps.db, project);
  const place = { id: project.id, forge, repositoryUrl: url, settings: project.settings.forge };
  const away = await look(deps, place, { credential, base: project.baseRef, folder: project.docsDir });
  if (deps.isConsole) await trustOrigins(deps.db, [url, apiUrl]);
  await deps.db.query("update projects set repository_url = $2, credential = $3 where id = $1", [
    project.id,
    url,
    deps.sealer.seal(credential, credentialContext(project.id)),
  ]);
  return { id: project.id, repositoryUrl: url, ...(away !== null && { notice: `${away} So nothing was checked.` }) };

  /** The forge itself leads from the old address to this one: pull requests keep their numbers. */
  async function isRenamedTo(address: string): Promise<boolean> {
    const now = await followed().catch(() => null);
    return now !== null && normalizeRepository(forge as RemoteForge, now, project.settings.forge).url === address;
  }

  async function followed(): Promise<string> {
    const address = await (await openForge(project, deps.forges)).findAddress?.(signal);
    if (address) return address;
    throw refused("The forge does not report the repository's URL.");
  }
}

type RemoteForge = Exclude<ForgeName, "local">;

/** In another repository, the numbers of pull requests mean others, and a running job would push its work there. */
async function assertNothingOpen(db: Queryable, project: { id: string; repositoryUrl: string }): Promise<void> {
  const { rows } = await db.query<{ active: number; open: number }>(
    `select count(*) filter (where status = 'active')::int as active,
       count(*) filter (where status <> 'archived' and pull_request ->> 'state' = 'open')::int as open
     from jobs where project_id = $1`,
    [project.id],
  );
  const { active = 0, open = 0 } = rows[0] ?? {};
  if (active > 0) {
    const jobs = active === 1 ? "One job of the project is" : `${active} jobs of the project are`;
    throw refused(`${jobs} queued or running. Wait or cancel first, then change the address.`);
  }
  if (open > 0) {
    const pulls = open === 1 ? "One pull request of Emend is" : `${open} pull requests of Emend are`;
    throw refused(
      `${pulls} open in ${project.repositoryUrl}, and Emend follows them there. Merge or close them, or archive their jobs, then change the address.`,
    );
  }
}
