import type { Logger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import { authorOf, commitMessage, type PageLinks, publishChange, type WriteQueue } from "@emend/publish";
import { reviewChange, truthChecks } from "@emend/review";
import {
  type CommitInput,
  createOverlay,
  type Mirror,
  type Mirrors,
  type ProposedHead,
  type Remote,
  type Tree,
} from "@emend/tree";
import { AppError, isAppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import { decideUnknown, unapprovedIn, unknownCheck } from "./ask-approval.ts";
import { type BuiltChange, buildChange, picturesOf, withBuilt } from "./build-change.ts";
import { classifyChange } from "./classify-change.ts";
import type { CrashPoint } from "./crash-points.ts";
import { guessWords } from "./propose-change.ts";
import { isRetitled, pullTitleOf } from "./recorder.ts";
import {
  askedOf,
  type LimitCode,
  type OpenTree,
  policyOf,
  type ReviewedChange,
  type RunProject,
  type Stages,
  type Words,
} from "./run.ts";
import { type WorkDeps, workOnJob } from "./work-on-job.ts";

interface StageDeps extends WorkDeps {
  writes: WriteQueue;
  findProject(id: string): Promise<RunProject | undefined>;
  jobUrl(job: LeasedJob): string;
  /** Links to pictures of the job's pages, for hosts. Absent or empty: there are none. */
  pictureUrls?(job: LeasedJob): Promise<readonly PageLinks[]>;
  findRefused: NonNullable<Stages["findRefused"]>;
  findTouching: NonNullable<Stages["findTouching"]>;
  crashPoint(name: CrashPoint): void;
  log: Logger;
  /** For tests of slow forges: see `PublishDeps`. */
  secondMs?: number;
}

/** How long a job may send the request to open its pull request again, if its project waits for a shorter time. */
const repeatMsMin = 15 * 60_000;

/** The real stages. Each loads what it needs by the job, so that any of them can be the first one after a crash. */
export function createStages(deps: StageDeps): Stages {
  async function projectOf(job: LeasedJob): Promise<RunProject> {
    const project = await deps.findProject(job.projectId);
    if (project) return project;
    throw new AppError("internal", { publicMessage: "The job's project was removed." });
  }

  const stages: Stages = {
    findRefused: deps.findRefused,
    findTouching: deps.findTouching,
    classify: classifyChange,

    async openTree(job, edits, signal) {
      const project = await projectOf(job);
      const mirror = await deps.mirrors.open(project.id);
      const remote = await (await deps.openForge(project)).gitRemote(signal);
      const pinned = job.base ?? (await pinBase());
      if (job.base) await mirror.ensureBase({ remote, jobId: job.id, commit: job.base.commit }, signal);
      const base = mirror.treeAt(pinned.commit);
      const overlay = await createOverlay(base, edits);
      const opened = { base, overlay, baseBranch: pinned.branch };
      if (job.base || !job.continuesBranch) return opened;
      return { ...opened, pushedByPeople: await pushedByPeople({ mirror, remote }, job, pinned.commit, signal) };

      async function pinBase(): Promise<{ commit: string; branch: string }> {
        const baseRef = job.continuesBranch ? job.branch : (job.baseRef ?? project.baseRef);
        const { commit, ref } = await mirror.fetchBase({ remote, jobId: job.id, baseRef }, signal);
        return { commit, branch: job.continuesBranch ? (job.baseBranch ?? ref) : ref };
      }
    },

    async runAgent(job, work, signal) {
      const project = await projectOf(job);
      return workOnJob(deps, project, job, work, signal);
    },

    async review(job, tree, words, signal) {
      const project = await projectOf(job);
      const whole = await wholeOf(deps, project, job, tree, words, signal);
      const { base, overlay } = tree;
      const verdict = await reviewChange(
        {
          base,
          overlay,
          ...(whole && { whole: builtOf(job, tree, whole) }),
          policy: policyOf(project),
          ignore: project.settings.checks.ignore,
          asked: askedOf(job),
          knownSecrets: await deps.knownSecrets(project.id),
          ...words,
          siteCache: deps.siteCache,
          pageReader: deps.pageReader,
        },
        signal,
      );
      // What policy denies is not built.
      if (verdict.kind === "denied") return verdict;
      const unknown = await unapprovedIn(job, tree, verdict.constructs);
      const built = await buildChange(deps, project, job, { ...builtOf(job, tree, whole), unknown }, signal);
      const found = withBuilt(verdict, built, project.allowedConstructs);
      const asked = found.kind === "denied" ? [] : await unapprovedIn(job, tree, found.constructs);
      // What a person approved is not asked about, listed or refused again.
      return asked.length === 0 ? found : decideUnknown(found, job.unknown, asked.length);
    },

    async takePictures(job, tree, change, signal) {
      const project = await projectOf(job);
      if (!project.settings.build.on || !deps.builds) return null;
      const whole = await wholeOf(deps, project, job, tree, change, signal);
      try {
        const unknown = await unapprovedIn(job, tree, change.verdict.constructs);
        return await picturesOf(deps, project, job, { ...builtOf(job, tree, whole), unknown }, signal);
      } catch (error) {
        signal.throwIfAborted();
        // Nobody's pull request waits for a picture.
        deps.log.warn({ err: error, jobId: job.id }, "pages could not be pictured");
        return null;
      }
    },

    async diff(job, tree, words, signal) {
      const project = await projectOf(job);
      const mirror = await deps.mirrors.open(job.projectId);
      const whole = await wholeOf(deps, project, job, tree, words, signal);
      const base = whole?.base ?? tree.base.commit;
      const to = whole?.head ?? (await mirror.commit(commitOf(project, job, tree, words), signal)).commitId;
      return { patch: (await mirror.diff({ from: base, to }, signal)).patch, base };
    },

    async openOnMovedBase(job, tree, words, signal) {
      const { base, overlay, baseBranch } = tree;
      const project = await projectOf(job);
      if (job.continuesBranch) {
        // Other people use this branch too, so nothing is merged into it. The pull request lists the conflicts instead.
        const whole = await wholeOf(deps, project, job, tree, words, signal);
        if (!whole || whole.moved.conflict.length === 0) return { kind: "unmoved" };
        return { kind: "conflict", commit: whole.moved.tip, paths: whole.moved.conflict };
      }
      const mirror = await deps.mirrors.open(project.id);
      const remote = await (await deps.openForge(project)).gitRemote(signal);
      const ours = commitOf(project, job, { base, overlay }, words);
      const moved = await mirror.mergeMovedBase({ remote, branch: baseBranch, ours }, signal);
      if (moved.kind === "unmoved") return moved;
      if (moved.kind === "conflict") return { kind: "conflict", commit: moved.base, paths: moved.paths };
      const there = mirror.treeAt(moved.base);
      const merged = await createOverlay(there, moved.entries);
      return { kind: "merged", tree: { base: there, overlay: merged, baseBranch } };
    },

    async publish(job, work, signal) {
      const project = await projectOf(job);
      const { change, recorder } = work;
      const draftReason = draftReasonOf(change, { job: job.draft, project: project.settings.draft });
      const whole = await wholeOf(deps, project, job, work, change, signal);
      const forge = await deps.openForge(project);
      // Emend's own page of a pull request has them in any case.
      const showsPictures = project.settings.build.picturesInPullRequests && forge.name !== "local";
      return publishChange(
        {
          forge,
          mirror: await deps.mirrors.open(project.id),
          store: recorder,
          writes: deps.writes,
          crashPoint: deps.crashPoint,
          ...(deps.secondMs !== undefined && { secondMs: deps.secondMs }),
          async warn(message, error) {
            deps.log.warn({ err: error, jobId: job.id, reason: message }, "publishing gave a notice");
            await recorder.saveNotice(isAppError(error) ? `${message}: ${error.publicMessage}` : `${message}.`);
          },
          renewForEffect: recorder.renewForEffect,
        },
        {
          job: {
            id: job.id,
            createdAt: job.createdAt,
            branch: job.branch,
            prompt: job.prompt,
            followUps: job.followUps,
            url: deps.jobUrl(job),
          },
          ...(showsPictures && deps.pictureUrls && { pictures: await deps.pictureUrls(job) }),
          model: work.model,
          usage: work.usage,
          sources: change.sources,
          base: { commit: work.base.commit, ref: work.baseBranch },
          entries: work.overlay.entries(),
          baseConflict: work.baseConflict,
          ...(whole && { whole: { base: whole.base, entries: whole.entries, fork: whole.fork } }),
          ...(job.continuesBranch && { pullTitle: pullTitleOf(job, change), isRetitled: isRetitled(job, change) }),
          rounds: job.rounds,
          peoplePaths: [...job.peoplePaths, ...(work.pushedByPeople ?? [])],
          title: change.title,
          summary: change.summary,
          ...(change.reply !== undefined && { reply: change.reply }),
          checks: change.verdict,
          draft: draftReason !== undefined,
          ...(draftReason === undefined ? {} : { draftReason }),
          stored: work.stored,
          commit: project.settings.commit,
          // People's commits on the branch are below ours. Newer ones end the run as a branch conflict.
          branchExpected: job.continuesBranch ? work.base.commit : null,
          createLeftMs: job.createLeftMs,
          mayRepeatCreate: (job.waitedMs ?? 0) < Math.max(job.publishWaitMs, repeatMsMin),
          continuesClosed: project.settings.closedPullRequest === "open_new",
        },
        signal,
      );
    },
  };
  return stages;
}

const limitWords: Readonly<Record<LimitCode, string>> = {
  budget_exceeded: "The job reached its budget before it was finished. This is what it had done by then.",
  timeout: "The job reached its time limit before it was finished. This is what it had done by then.",
};

/** Why this is a draft, in words for its reader. Undefined if it is not a draft. */
export function draftReasonOf(
  change: ReviewedChange,
  /** The request's wish, if it has one, and the project's setting. */
  wanted: { job: boolean | null; project: boolean },
): string | undefined {
  if (change.limitReached) return limitWords[change.limitReached];
  if (change.unanswered.length > 0) return change.unanswered.map(guessWords).join(" ");
  const disputes = change.verdict.introduced.filter((finding) => "dispute" in finding).length;
  if (disputes > 0) return "The agent disputes findings of the checks. Review both sides before merging.";
  if (change.verdict.kind === "flagged") {
    const errors = change.verdict.introduced.filter(({ severity }) => severity === "error");
    if (errors.length > 0 && errors.every(({ check }) => truthChecks.has(check))) {
      return "Statements in this change could not be verified. Compare the findings with the change before merging.";
    }
    if (errors.length > 0 && errors.every(({ check }) => check === unknownCheck)) {
      return "This change has what no page of the site has yet. Look at it before merging.";
    }
    if (errors.length > 0 && errors.every(({ check }) => check === "build")) {
      return "The site's builder refuses this change, or reports errors that the base branch does not have.";
    }
    if (errors.length > 0 && errors.every(({ check }) => check === "sample")) {
      return "Samples of this change do not do what its pages say.";
    }
    return errors.length > 0
      ? "The checks found errors that this change introduces."
      : "A page moved or was deleted, and no link to it could be updated. Check the links before merging.";
  }
  if (wanted.job) return "The job asked for a draft.";
  return wanted.job === null && wanted.project ? "This project opens its pull requests as drafts." : undefined;
}

/** The files that people changed on a job's branch since its last round. */
async function pushedByPeople(
  deps: { mirror: Mirror; remote: Remote },
  job: LeasedJob,
  head: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const from = job.branchCommit;
  if (from === null || from === head) return [];
  try {
    return await deps.mirror.changedSince({ remote: deps.remote, jobId: job.id, from, to: head }, signal);
  } catch (error) {
    // A rewritten branch may no longer contain the commit. Then the files are unknown.
    if (isAppError(error, "repository_unavailable")) return [];
    throw error;
  }
}

interface Whole extends ProposedHead {
  fork: string;
  treeAt(commit: string): Tree;
}

/**
 * The pull request that a follow-up continues, as its reviewer sees it: the work of all rounds and people's commits,
 * compared with its base branch. Null if this round is all there is, or if earlier rounds were not recorded.
 */
async function wholeOf(
  deps: { mirrors: Mirrors; openForge(project: RunProject): Promise<Forge> },
  project: RunProject,
  job: LeasedJob,
  tree: OpenTree,
  words: Words,
  signal: AbortSignal,
): Promise<Whole | null> {
  const { forkCommit: fork } = job;
  if (!job.continuesBranch || fork === null) return null;
  const mirror = await deps.mirrors.open(project.id);
  const remote = await (await deps.openForge(project)).gitRemote(signal);
  const { commitId: head } = await mirror.commit(commitOf(project, job, tree, words), signal);
  const proposed = await mirror.propose({ remote, jobId: job.id, fork, head, branch: tree.baseBranch }, signal);
  return { ...proposed, fork, treeAt: (commit) => mirror.treeAt(commit) };
}

/** Both sides of what is published: of a follow-up, the whole pull request. */
function builtOf(job: LeasedJob, { base, overlay, pushedByPeople = [] }: OpenTree, whole: Whole | null): BuiltChange {
  const byPeople = [...job.peoplePaths, ...pushedByPeople];
  return whole
    ? { base: whole.treeAt(whole.base), head: whole.treeAt(whole.head), entries: whole.entries, byPeople }
    : { base, head: overlay, entries: overlay.entries(), byPeople };
}

/** The same job, tree and texts always give the same commit. */
function commitOf(
  project: RunProject,
  job: LeasedJob,
  { base, overlay }: Pick<OpenTree, "base" | "overlay">,
  words: Words,
): CommitInput {
  const { commit } = project.settings;
  return {
    jobId: job.id,
    base: base.commit,
    entries: overlay.entries(),
    message: commitMessage({ ...words, job, commit }),
    author: authorOf(commit),
    date: job.createdAt,
  };
}
