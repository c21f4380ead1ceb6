import { getProject } from "./accounts/get-project.ts";
import type { Queryable } from "./db/pool.ts";
import { AppError, isAppError } from "./errors.ts";
import { hookSecretOf } from "./forge/hooks/hook-secret.ts";
import { type ForgeDeps, openForge } from "./forge/registry.ts";
import type { Git } from "./tree/git.ts";
import { resolveBase } from "./tree/resolve-base.ts";

/** One thing that was looked at, in words. */
interface ProjectCheck {
  name: string;
  verdict: "ok" | "problem" | "unknown";
  words: string;
}

export interface ProjectDiagnosis {
  projectId: string;
  repositoryUrl: string;
  checks: readonly ProjectCheck[];
  /** For whoever sets the forge's webhook up; null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}

/** Looks at everything a job of this project will need from its forge, and changes nothing. */
export async function diagnoseProject(
  deps: { db: Queryable; forges: ForgeDeps; git: Git; secret: string; publicUrl: string },
  projectId: string,
  signal: AbortSignal,
): Promise<ProjectDiagnosis> {
  const project = await getProject(deps.db, projectId);
  if (!project) throw new AppError("not_found", { publicMessage: `no such project: ${projectId}` });
  const forge = await openForge(project, deps.forges);
  const checks: ProjectCheck[] = [];
  const check = async (name: string, work: () => Promise<Omit<ProjectCheck, "name">>) =>
    void checks.push({ name, ...(await work().catch(told)) });

  await check("token", async () => {
    const found = await forge.describeRepository(signal);
    if (found.archived) return { verdict: "problem", words: `${found.path} is archived: nothing can be pushed to it` };
    const isSame =
      forge.name === "local" || project.repositoryUrl.toLowerCase().endsWith(`/${found.path.toLowerCase()}`);
    if (!isSame) return { verdict: "problem", words: `the repository is called ${found.path} now` };
    return { verdict: "ok", words: `reads ${found.path}` };
  });
  await check("permissions", async () => {
    const { mayPush, mayOpenPullRequests } = await forge.describeRepository(signal);
    if (mayPush === false) return { verdict: "problem", words: "the token's owner may not push" };
    if (mayOpenPullRequests === false) return { verdict: "problem", words: "pull requests cannot be opened here" };
    if (mayPush === null) return { verdict: "unknown", words: "the forge does not say whether the token may push" };
    return { verdict: "ok", words: "the token's owner may push" };
  });
  await check("git", async () => {
    const remote = await forge.gitRemote(signal);
    const base = await resolveBase(deps.git, { remote, baseRef: project.baseRef }, signal);
    return { verdict: "ok", words: `the base is ${base.branch} at ${base.commit.slice(0, 10)}` };
  });
  await check("pull requests", async () => {
    await forge.findPullRequests(`${project.settings.branchPrefix}/doctor`, signal);
    return { verdict: "ok", words: "can be listed by branch" };
  });
  const webhook =
    forge.name === "local"
      ? null
      : { url: `${deps.publicUrl}/hooks/${forge.name}/${project.id}`, secret: hookSecretOf(deps.secret, project.id) };
  return { projectId, repositoryUrl: project.repositoryUrl, checks, webhook };
}

function told(error: unknown): Omit<ProjectCheck, "name"> {
  if (!isAppError(error)) throw error;
  return { verdict: error.retryable ? "unknown" : "problem", words: error.publicMessage };
}
