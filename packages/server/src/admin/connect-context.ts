import type { ForgeName } from "@emend/contract";
import { checkCredential, knownForge, normalizeRepository } from "@emend/forges";
import { type Git, resolveBase } from "@emend/tree";
import { addContextRepository, type ContextRepository } from "../accounts/projects/context-repositories.ts";
import { parseProjectSettings } from "../accounts/projects/project-settings.ts";
import { getProject } from "../accounts/projects/projects.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Pool } from "../db/pool.ts";
import { type Actor, consoleActor } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";
import { type ContextForges, contextRemoteOf, localProjectOf } from "../installation/forge-reach.ts";

export interface ContextInput {
  projectId: string;
  /** The name for the agent. */
  name: string;
  forge: string;
  /** The repository's URL. On the local forge: a project's id or URL. */
  repo: string;
  /** The forge's API. Absent: derived from the repository's URL. */
  apiUrl?: string;
  base?: string;
  /** The forge's token, or a GitHub App as JSON. Absent for a public repository. */
  credential?: string;
}

const lookMsMax = 15_000;

/** Adds a context repository after checking that it can be read. */
export async function connectContext(
  deps: { pool: Pool; sealer: Sealer; git: Git; forges: ContextForges },
  input: ContextInput,
  by: Actor = consoleActor,
): Promise<ContextRepository> {
  const forge = knownForge(input.forge);
  const { apiUrl } = parseProjectSettings({ forge: { apiUrl: input.apiUrl ?? null } }).forge;
  const repositoryUrl = await addressOf(deps.pool, { forge, repo: input.repo, apiUrl });
  const credential =
    forge === "local" || input.credential === undefined ? null : checkCredential(forge, input.credential);
  const repository = { forge, repositoryUrl, apiUrl, credential };
  const baseRef = input.base ?? null;
  await look(deps, { ...repository, id: input.projectId, baseRef });
  return addContextRepository(deps, { ...repository, projectId: input.projectId, name: input.name, baseRef }, by);
}

async function addressOf(
  pool: Pool,
  { forge, repo, apiUrl }: { forge: ForgeName; repo: string; apiUrl: string | null },
): Promise<string> {
  if (forge !== "local") return normalizeRepository(forge, repo, parseProjectSettings({ forge: { apiUrl } }).forge).url;
  const id = repo.includes("/") ? localProjectOf(repo) : repo;
  const project = await getProject(pool, id);
  if (project?.forge === "local") return project.repositoryUrl;
  throw new AppError("not_found", { publicMessage: `There is no project ${id} on the local forge.` });
}

async function look(
  deps: { git: Git; forges: ContextForges },
  repository: Parameters<typeof contextRemoteOf>[1] & { baseRef: string | null },
): Promise<void> {
  const signal = AbortSignal.timeout(lookMsMax);
  try {
    const remote = await contextRemoteOf(deps.forges, repository, signal);
    await resolveBase(deps.git, { remote, baseRef: repository.baseRef }, signal);
  } catch (error) {
    // An unavailable forge is not a reason to refuse: jobs will retry.
    if ((isAppError(error) && error.retryable) || (error as Error)?.name === "TimeoutError") return;
    if (isAppError(error)) throw refused(error.publicMessage, error);
    throw error;
  }
}

function refused(publicMessage: string, cause: AppError): AppError {
  return new AppError("invalid_request", { publicMessage, cause });
}
