import type { Limits } from "../agent/agent.ts";
import type { ForgeSettings } from "../forge/forge-project.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import { withoutFenced } from "../lib/without-fenced.ts";
import type { CommitSettings } from "../publish/commit-message.ts";
import type { Policy } from "../review/review.ts";

/** As much of a project as a run needs. */
export interface RunProject {
  id: string;
  forge: string;
  repositoryUrl: string;
  baseRef: string | null;
  docsDir: string;
  settings: {
    styleGuides: readonly string[];
    fallbackModels: readonly string[] | null;
    selfReview: boolean;
    draft: boolean;
    limits: Limits;
    policy: Omit<Policy, "docsDir">;
    commit: CommitSettings;
    forge: ForgeSettings;
  };
}

/** What people said to a job, the first prompt first; not what an automation quotes, such as strangers' commits. */
export function askedOf(job: Pick<LeasedJob, "prompt" | "followUps">): readonly string[] {
  return [job.prompt, ...job.followUps].map(withoutFenced);
}

export function policyOf(project: RunProject): Policy {
  return { ...project.settings.policy, docsDir: project.docsDir };
}

/** A request can only lower what the project allows. */
export function limitsOf(project: RunProject, job: LeasedJob): Limits {
  const { limits } = project.settings;
  return { ...limits, costUsdMax: Math.min(limits.costUsdMax, job.maxCostUsd ?? Number.POSITIVE_INFINITY) };
}
