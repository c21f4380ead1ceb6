import { checkSite, openSite, type ParseCache } from "@emend/site";
import { getProject } from "../accounts/get-project.ts";
import type { Project } from "../accounts/project.ts";
import type { Pool } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import type { Forge } from "../forge/forge.ts";
import { storeSiteCheck, storeSiteProblem } from "../health/store-site-check.ts";
import type { Mirrors } from "../tree/mirror.ts";
import { siteTreeOf } from "../tree/site-tree.ts";

interface SiteHealthDeps {
  pool: Pool;
  mirrors: Mirrors;
  siteCache: ParseCache;
  openForge(project: Project): Promise<Forge>;
}

/** Checks the whole site of a project's base branch and stores what was found; needs a mirror, so a worker does it. */
export async function checkSiteHealth(deps: SiteHealthDeps, projectId: string, signal: AbortSignal): Promise<void> {
  const project = await getProject(deps.pool, projectId);
  if (!project) return;
  try {
    await storeSiteCheck(deps.pool, projectId, await look(deps, project, signal));
  } catch (error) {
    // What stops a job stops this as well, and is said in the same words.
    if (!isAppError(error)) throw error;
    await storeSiteProblem(deps.pool, projectId, error.publicMessage);
  }
}

async function look(deps: SiteHealthDeps, project: Project, signal: AbortSignal) {
  const mirror = await deps.mirrors.open(project.id);
  const remote = await (await deps.openForge(project)).gitRemote(signal);
  // Pinned as if for a job, so that nothing is collected while it is read.
  const jobId = `health_${project.id}`;
  try {
    const { commit, ref } = await mirror.fetchBase({ remote, jobId, baseRef: project.baseRef }, signal);
    const site = await openSite(siteTreeOf(mirror.treeAt(commit)), {
      docsDir: project.docsDir,
      cache: deps.siteCache,
      signal,
    });
    const findings = await checkSite(site, { signal });
    return { commit, branch: ref, framework: site.framework, pages: site.pages.length, findings };
  } finally {
    await mirror.release(jobId);
  }
}
