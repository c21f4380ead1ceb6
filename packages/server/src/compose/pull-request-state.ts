import { getProject } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import type { PullRequest } from "../forge/forge.ts";
import { type ForgeDeps, openForge } from "../forge/registry.ts";
import type { Logger } from "../lib/logger.ts";

const askMsMax = 5_000;

/** A pull request's current state. Null if its forge does not answer in time: then the stored state counts. */
export async function readPullRequestState(
  deps: { pool: Pool; forges: ForgeDeps; log: Logger },
  projectId: string,
  number: number,
): Promise<PullRequest["state"] | null> {
  try {
    const project = await getProject(deps.pool, projectId);
    if (!project) return null;
    const forge = await openForge(project, deps.forges);
    return (await forge.readPullRequest(number, AbortSignal.timeout(askMsMax)))?.state ?? null;
  } catch (error) {
    deps.log.warn({ err: error, projectId }, "a pull request's state could not be read");
    return null;
  }
}
