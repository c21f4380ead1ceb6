import type { ParseCache } from "@emend/site";
import type { AgentOutcome, Model } from "../agent/agent.ts";
import { runAgentWithReview } from "../agent/run-agent-with-review.ts";
import type { Forge } from "../forge/forge.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import { conventionalTitle } from "../publish/title-convention.ts";
import type { PageReader } from "../review/page-reader.ts";
import { refusedBy } from "../review/policy.ts";
import { createVetting } from "../review/vet-words.ts";
import type { Mirrors } from "../tree/mirror.ts";
import type { PageHistory } from "../tree/page-history.ts";
import type { RecentSubjects } from "../tree/recent-subjects.ts";
import { type ContextSource, openContextTrees } from "./context-trees.ts";
import type { AgentResult, AgentWork } from "./run.ts";
import { askedOf, limitsOf, policyOf, type RunProject } from "./run-project.ts";
import { readTitleConvention } from "./title-convention.ts";

export interface WorkDeps {
  mirrors: Mirrors;
  siteCache: ParseCache;
  pageReader: PageReader;
  openForge(project: RunProject): Promise<Forge>;
  openModel(project: RunProject, name: string): Promise<Model>;
  /** What the project's jobs may read beside its own repository. */
  listContext(projectId: string): Promise<readonly ContextSource[]>;
  recentSubjects: RecentSubjects;
  pageHistory: PageHistory;
  /** Credentials of the installation and of the project, which nothing that a job leaves behind may hold. */
  knownSecrets(projectId: string): Promise<readonly string[]>;
}

/** Gives the agent everything that it may see, and hands its outcome over in the repository's own manner. */
export async function workOnJob(
  deps: WorkDeps,
  project: RunProject,
  job: LeasedJob,
  work: AgentWork,
  signal: AbortSignal,
): Promise<AgentResult> {
  const policy = policyOf(project);
  const context = openContextTrees({ ...deps, ...work }, job, await deps.listContext(project.id));
  const model = await deps.openModel(project, job.model);
  const remote = await (await deps.openForge(project)).gitRemote(signal);
  const subjects = await deps.recentSubjects({ remote, branch: work.baseBranch }, signal);
  const { outcome, verdict } = await runAgentWithReview(
    {
      model,
      selfReview: project.settings.selfReview,
      limits: limitsOf(project, job),
      siteCache: deps.siteCache,
      refusePath: (path) => refusedBy(policy, path),
      vetting: createVetting(
        work.base,
        { policy, asked: askedOf(job) },
        {
          knownSecrets: await deps.knownSecrets(project.id),
          pageReader: deps.pageReader,
        },
      ),
      saveStep: work.saveStep,
      review: work.review,
    },
    {
      jobId: job.id,
      prompt: job.prompt,
      docsDir: project.docsDir,
      base: work.base,
      overlay: work.overlay,
      context,
      history: (path, either) => deps.pageHistory({ remote, branch: work.baseBranch, path }, either),
      styleGuides: project.settings.styleGuides,
      subjects,
      steps: work.steps,
      followUps: work.followUps,
    },
    signal,
  );
  const cited = outcome.kind === "finished" ? (outcome.sources ?? []) : [];
  const own = { repositoryUrl: project.repositoryUrl, forge: project.forge, commit: work.base.commit };
  return {
    outcome: await inOwnManner(outcome, work, subjects),
    verdict,
    sources: cited.map((source) => ({ ...(context.pinned(source) ?? own), ...source })),
  };
}

async function inOwnManner(outcome: AgentOutcome, work: AgentWork, subjects: readonly string[]): Promise<AgentOutcome> {
  if (outcome.kind === "unchanged") return outcome;
  const convention = await readTitleConvention(work.base, subjects);
  const worded = { ...outcome, title: conventionalTitle(outcome.title, convention) };
  if (worded.kind !== "finished" || worded.pullTitle === undefined) return worded;
  return { ...worded, pullTitle: conventionalTitle(worded.pullTitle, convention) };
}
