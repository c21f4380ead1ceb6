import {
  type AgentDeps,
  type AgentOutcome,
  type Attachment,
  type ContextTrees,
  type Model,
  type OpenPull,
  readCited,
  runAgentWithReview,
  type Source,
} from "@emend/agent";
import type { Forge } from "@emend/forges";
import { conventionalTitle, type TitleConvention, titleConventionOf } from "@emend/publish";
import { createContentJudge, type PageReader, refusedBy } from "@emend/review";
import { screenshotsFile } from "@emend/site";
import type { CommitReader, Mirrors, PageHistory, RecentSubjects, Remote, Tree } from "@emend/tree";
import { AppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { PinnedContext } from "../jobs/run/record-work.ts";
import { type BuildChangeDeps, buildChange, picturesOf, screenshotsOf } from "./build-change.ts";
import { type AgentResult, type AgentWork, askedOf, limitsOf, policyOf, type RunProject } from "./run.ts";

export interface WorkDeps extends BuildChangeDeps {
  mirrors: Mirrors;
  pageReader: PageReader;
  openForge(project: RunProject): Promise<Forge>;
  openModel(project: RunProject, name: string): Promise<Model>;
  /** The repositories that the project's jobs may read besides its own. */
  listContext(projectId: string): Promise<readonly ContextSource[]>;
  recentSubjects: RecentSubjects;
  pageHistory: PageHistory;
  readCommit: CommitReader;
  /** Why a monthly budget ends the project's runs; null: it does not. */
  spentBudget(projectId: string): Promise<string | null>;
  /** The tools that ask other services. Null: the project has none. */
  openKnowledge?(job: { id: string; projectId: string }): Promise<JobKnowledge | null>;
  /** What people attached to the job's prompt and messages. */
  uploadsOf?(jobId: string): Promise<readonly Attachment[]>;
  /** Whether a model takes pictures. Absent: none does. */
  seesPictures?(model: string): boolean;
  /** Spans of the agent, its model and its tools. `redact` takes credentials out of content. */
  trace?(jobId: string, redact: (text: string) => Promise<string>): AgentTrace;
}

type JobKnowledge = NonNullable<AgentDeps["knowledge"]> & { close(): Promise<void> };

interface AgentTrace extends Pick<AgentDeps, "watchTool"> {
  agent<T>(model: Model, work: () => Promise<T>): Promise<T>;
  model(model: Model): Model;
}

const noTrace: AgentTrace = { agent: (_, work) => work(), model: (model) => model };

/** Gives the agent everything that it may read, and returns its outcome with titles in the repository's convention. */
export async function workOnJob(
  deps: WorkDeps,
  project: RunProject,
  job: LeasedJob,
  work: AgentWork,
  signal: AbortSignal,
): Promise<AgentResult> {
  const policy = policyOf(project);
  const repositories = await deps.listContext(project.id);
  const context = openContextTrees({ ...deps, ...work }, job, repositories);
  const model = await deps.openModel(project, job.model);
  const remote = await (await deps.openForge(project)).gitRemote(signal);
  const subjects = await deps.recentSubjects({ remote, branch: work.baseBranch }, signal);
  const knownSecrets = await deps.knownSecrets(project.id);
  /** Where the history of a path is. `@name` and `@name/path` are in a context repository. */
  async function branchOf(path: string, either: AbortSignal) {
    const named = repositories.find(({ name }) => path === `@${name}` || path.startsWith(`@${name}/`));
    if (!named) return { remote, branch: work.baseBranch, path };
    // Opening it pins it, and with it the branch whose history this is.
    await context.open(named.name, either);
    const branch = context.refOf(named.name);
    return branch === null
      ? null
      : { remote: await named.remote(either), branch, path: path.slice(named.name.length + 2) };
  }
  const byPeople = [...job.peoplePaths, ...(work.pushedByPeople ?? [])];
  const soFar = async (either: AbortSignal) => {
    const entries = work.overlay.entries();
    const { constructs: unknown } = await vetting.judge(entries, either);
    return { base: work.base, head: work.overlay, entries, byPeople, unknown };
  };
  const build = async (either: AbortSignal) => buildChange(deps, project, job, await soFar(either), either);
  const renew = async (either: AbortSignal) => screenshotsOf(deps, project, job, await soFar(either), either);
  const look = async (path: string, either: AbortSignal) => {
    const taken = (await picturesOf(deps, project, job, await soFar(either), either, [path])) ?? [];
    return taken.flatMap(({ side, width, webp }) =>
      side === "after" ? [{ name: `${path}, in a window of ${width} pixels`, webp }] : [],
    );
  };
  const isBuilt = project.settings.build.on && deps.builds !== undefined;
  const vetting = createContentJudge(
    work.base,
    {
      policy,
      // What people say meanwhile counts as asked for.
      get asked() {
        return askedOf(job);
      },
    },
    {
      knownSecrets,
      pageReader: deps.pageReader,
    },
  );
  const trace = deps.trace?.(job.id, vetting.redact) ?? noTrace;
  const reader = await openSecondReader(deps, project, model);
  const knowledge = (await deps.openKnowledge?.({ id: job.id, projectId: project.id })) ?? undefined;
  const { outcome, verdict } = await trace
    .agent(model, async () =>
      runAgentWithReview(
        {
          model: trace.model(model),
          secondReader: reader && trace.model(reader),
          limits: limitsOf(project, job),
          spentBudget: () => deps.spentBudget(project.id),
          siteCache: deps.siteCache,
          refusePath: (path) => refusedBy(policy, path),
          vetting,
          watchTool: trace.watchTool,
          knowledge,
          build: isBuilt ? build : undefined,
          look: isBuilt && deps.seesPictures?.(job.model) ? look : undefined,
          takeScreenshots: isBuilt && (await work.base.read(screenshotsFile)) !== null ? renew : undefined,
          saveStep: work.saveStep,
          interjections: work.interjections,
          attachments: async () => (await deps.uploadsOf?.(job.id)) ?? [],
          questions: { max: job.questionsMax, overdue: job.overdueStep },
          review: work.review,
        },
        {
          jobId: job.id,
          prompt: job.prompt,
          plan: job.plan,
          docsDir: project.docsDir,
          base: work.base,
          overlay: work.overlay,
          context,
          async history(path, either) {
            const at = await branchOf(path, either);
            return at && deps.pageHistory(at, either);
          },
          async commit(commit, path, either) {
            const at = await branchOf(path, either);
            return at && deps.readCommit({ ...at, commit }, either);
          },
          pull: once((either) => openPull({ ...deps, remote }, project, job, work, either)),
          ignore: project.settings.checks.ignore,
          styleGuides: project.settings.styleGuides,
          subjects,
          steps: work.steps,
          followUps: work.followUps,
        },
        signal,
      ),
    )
    .finally(() => knowledge?.close());
  const own = { repositoryUrl: project.repositoryUrl, forge: project.forge, commit: work.base.commit };
  const sources = [];
  for (const { lineEnd, ...source } of outcome.kind === "finished" ? (outcome.sources ?? []) : []) {
    const asked = lineEnd === undefined ? source : { ...source, lineEnd };
    const cited = await readCited({ base: work.base, context }, asked, knownSecrets, signal);
    sources.push({ ...(context.pinned(source) ?? own), ...source, ...(cited && { cited }) });
  }
  return {
    outcome: await applyTitleConvention(outcome, work, subjects),
    verdict,
    sources,
  };
}

function once<T>(open: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let opened: Promise<T> | undefined;
  return (signal) => {
    opened ??= open(signal).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}

/** The pull request that a follow-up continues. Null if this round is all there is. */
async function openPull(
  deps: Pick<WorkDeps, "mirrors"> & { remote: Remote },
  project: RunProject,
  job: LeasedJob,
  { base, baseBranch }: AgentWork,
  signal: AbortSignal,
): Promise<OpenPull | null> {
  const { forkCommit: fork } = job;
  if (!job.continuesBranch || fork === null) return null;
  const mirror = await deps.mirrors.open(project.id);
  const input = { remote: deps.remote, jobId: job.id, fork, head: base.commit, branch: baseBranch };
  const proposed = await mirror.propose(input, signal);
  return { base: mirror.treeAt(proposed.base), entries: proposed.entries };
}

/** Null: it is switched off, or there is no language model to ask. */
async function openSecondReader(deps: WorkDeps, project: RunProject, model: Model): Promise<Model | null> {
  const { secondReader, secondReaderModel } = project.settings;
  if (!secondReader || model.nature === "rules") return null;
  const reader = secondReaderModel === null ? model : await deps.openModel(project, secondReaderModel);
  return reader.nature === "language" && !reader.run ? reader : null;
}

async function applyTitleConvention(
  outcome: AgentOutcome,
  work: AgentWork,
  subjects: readonly string[],
): Promise<AgentOutcome> {
  if (outcome.kind === "unchanged" || outcome.kind === "asked") return outcome;
  const convention = await readTitleConvention(work.base, subjects);
  const worded = { ...outcome, title: conventionalTitle(outcome.title, convention) };
  if (worded.kind !== "finished" || worded.pullTitle === undefined) return worded;
  return { ...worded, pullTitle: conventionalTitle(worded.pullTitle, convention) };
}

/** A context repository of the job's project. */
interface ContextSource {
  /** Also the name of its mirror. */
  id: string;
  name: string;
  forge: string;
  repositoryUrl: string;
  baseRef: string | null;
  remote(signal: AbortSignal): Promise<Remote>;
}

interface PinnedTrees extends ContextTrees {
  /** Where a source was read. Undefined: in the project's own repository. */
  pinned(source: Source): Omit<PinnedContext, "name" | "ref"> | undefined;
  /** The branch that a repository was read from. Null: it was not read yet. */
  refOf(name: string): string | null;
}

/**
 * Fetches each repository when the agent first reads it, into its own mirror, and pins it for the job. The commit is
 * stored before anything is read, so that a run on another node reads the same.
 */
function openContextTrees(
  deps: { mirrors: Mirrors; saveContext(pinned: PinnedContext): Promise<void> },
  job: LeasedJob,
  repositories: readonly ContextSource[],
): PinnedTrees {
  const pins = new Map(job.context.map((pinned) => [pinned.name, pinned]));
  const opened = new Map<string, Promise<Tree>>();

  async function open(name: string, signal: AbortSignal): Promise<Tree> {
    const repository = repositories.find((one) => one.name === name);
    if (!repository) {
      throw new AppError("repository_unavailable", { publicMessage: "The project no longer has this repository." });
    }
    const { forge, repositoryUrl, baseRef } = repository;
    const mirror = await deps.mirrors.open(repository.id);
    const remote = await repository.remote(signal);
    const earlier = pins.get(name);
    // The name may belong to another repository now.
    if (earlier?.repositoryUrl === repositoryUrl) {
      await mirror.ensureBase({ remote, jobId: job.id, commit: earlier.commit }, signal);
      return mirror.treeAt(earlier.commit);
    }
    const { commit, ref } = await mirror.fetchBase({ remote, jobId: job.id, baseRef }, signal);
    const pinned = { name, forge, repositoryUrl, ref, commit };
    await deps.saveContext(pinned);
    pins.set(name, pinned);
    return mirror.treeAt(commit);
  }

  return {
    names: repositories.map(({ name }) => name),
    open(name, signal) {
      const known = opened.get(name);
      if (known) return known;
      const opening = open(name, signal);
      opened.set(name, opening);
      // A failure is not cached: the next read tries again.
      opening.catch(() => opened.delete(name));
      return opening;
    },
    refOf: (name) => pins.get(name)?.ref ?? null,
    pinned({ repository }) {
      const pinned = repository === null ? undefined : pins.get(repository);
      return pinned && { repositoryUrl: pinned.repositoryUrl, forge: pinned.forge, commit: pinned.commit };
    },
  };
}

const commitlintFiles = /^(?:commitlint\.config\.[cm]?[jt]s|\.commitlintrc(?:\.(?:json|ya?ml|[cm]?[jt]s))?)$/;

/** The convention for titles, from the repository's commits or its commitlint configuration. */
async function readTitleConvention(base: Tree, subjects: readonly string[]): Promise<TitleConvention> {
  const hasCommitlint = (await base.list()).some(({ path }) => commitlintFiles.test(path));
  return titleConventionOf(subjects, hasCommitlint);
}
