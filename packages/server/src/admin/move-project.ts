import { credentialContext, openProjectCredential } from "../accounts/projects/project-credential.ts";
import { requireProject } from "../accounts/projects/projects.ts";
import { AppError } from "../errors.ts";
import { checkCredential, type ForgeDeps, knownForge, normalizeRepository, openForge } from "../forge/registry.ts";
import { type ConnectDeps, type ConnectedProject, look } from "./connect-project.ts";

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
  const { url } = normalizeRepository(forge, wanted, project.settings.forge);
  const given = input.credential === undefined ? null : checkCredential(forge, input.credential);
  // A token is only sent to the server that it was given for.
  if (given === null && new URL(url).origin !== new URL(project.repositoryUrl).origin) {
    throw refused("The new address is on another server. Give a token for that server as well.");
  }
  const credential = given ?? (await openProjectCredential(deps, project.id));
  if (credential === null) throw refused("The project has no token. Give one as well.");
  const place = { id: project.id, forge, repositoryUrl: url, settings: project.settings.forge };
  const away = await look(deps.config, place, { credential, base: project.baseRef, folder: project.docsDir });
  await deps.db.query("update projects set repository_url = $2, credential = $3 where id = $1", [
    project.id,
    url,
    deps.sealer.seal(credential, credentialContext(project.id)),
  ]);
  return { id: project.id, repositoryUrl: url, ...(away !== null && { notice: `${away} So nothing was checked.` }) };

  async function followed(): Promise<string> {
    const address = await (await openForge(project, deps.forges)).findAddress?.(signal);
    if (address) return address;
    throw refused("The forge does not report the repository's URL.");
  }
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
