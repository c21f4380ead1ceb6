import type { Project } from "../accounts/project.ts";
import type { CreateJobRules } from "../jobs/create-job.ts";

const hourMs = 3_600_000;

/** What a project says about its new jobs, whoever creates them. `model` is chosen where a request names none. */
export function createJobRules(project: Project, model: string): CreateJobRules {
  const { branchPrefix, limits, createsPerHourMax } = project.settings;
  return {
    repositoryUrl: project.repositoryUrl,
    branchPrefix,
    model,
    costUsdMax: limits.costUsdMax,
    quota: { usesMax: createsPerHourMax, windowMs: hourMs },
  };
}
