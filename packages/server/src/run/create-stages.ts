import { AppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Logger } from "../lib/logger.ts";
import { authorOf, commitMessage } from "../publish/commit-message.ts";
import { publishChange } from "../publish/publish-change.ts";
import type { WriteQueue } from "../publish/write-queue.ts";
import { reviewChange } from "../review/review-change.ts";
import type { CommitInput } from "../tree/mirror.ts";
import { createOverlay } from "../tree/overlay.ts";
import type { CrashPoint } from "./crash-points.ts";
import { draftReasonOf } from "./draft-reason.ts";
import type { OpenTree, Stages, Words } from "./run.ts";
import { askedOf, policyOf, type RunProject } from "./run-project.ts";
import { type WorkDeps, workOnJob } from "./work-on-job.ts";

export interface StageDeps extends WorkDeps {
  writes: WriteQueue;
  findProject(id: string): Promise<RunProject | undefined>;
  jobUrl(job: LeasedJob): string;
  findRefused: NonNullable<Stages["findRefused"]>;
  crashPoint(name: CrashPoint): void;
  log: Logger;
}

/** The real stages: each finds what it needs by the job, so that any of them can be the first one after a crash. */
export function createStages(deps: StageDeps): Stages {
  async function projectOf(job: LeasedJob): Promise<RunProject> {
    const project = await deps.findProject(job.projectId);
    if (project) return project;
    throw new AppError("internal", { publicMessage: "The job's project is no longer there." });
  }

  const stages: Stages = {
    findRefused: deps.findRefused,

    async openTree(job, edits, signal) {
      const project = await projectOf(job);
      const mirror = await deps.mirrors.open(project.id);
      const remote = await (await deps.openForge(project)).gitRemote(signal);
      const pinned = job.base ?? (await pinBase());
      if (job.base) await mirror.ensureBase({ remote, jobId: job.id, commit: job.base.commit }, signal);
      const base = mirror.treeAt(pinned.commit);
      return { base, overlay: await createOverlay(base, edits), baseBranch: pinned.branch };

      async function pinBase(): Promise<{ commit: string; branch: string }> {
        const baseRef = job.continuesBranch ? job.branch : (job.baseRef ?? project.baseRef);
        const { commit, ref } = await mirror.fetchBase({ remote, jobId: job.id, baseRef }, signal);
        return { commit, branch: job.continuesBranch ? (job.baseBranch ?? ref) : ref };
      }
    },

    async runAgent(job, work, signal) {
      const project = await projectOf(job);
      const selfReview = async (words: Words) => (await stages.diff(job, work, words, signal)).toString();
      return workOnJob({ ...deps, selfReview }, project, job, work, signal);
    },

    async review(job, { base, overlay }, words, signal) {
      const policy = policyOf(await projectOf(job));
      return reviewChange({ base, overlay, policy, asked: askedOf(job), ...words, siteCache: deps.siteCache }, signal);
    },

    async diff(job, { base, overlay }, change, signal) {
      const project = await projectOf(job);
      const mirror = await deps.mirrors.open(job.projectId);
      const commit = await mirror.commit(commitOf(project, job, { base, overlay }, change), signal);
      const { patch } = await mirror.diff({ from: base.commit, to: commit.commitId }, signal);
      return patch;
    },

    async takeInBase(job, { base, overlay, baseBranch }, words, signal) {
      const project = await projectOf(job);
      const mirror = await deps.mirrors.open(project.id);
      const remote = await (await deps.openForge(project)).gitRemote(signal);
      const ours = commitOf(project, job, { base, overlay }, words);
      const moved = await mirror.takeInBase({ remote, branch: baseBranch, ours }, signal);
      if (moved.kind === "unmoved") return moved;
      if (moved.kind === "conflict") return { kind: "conflict", commit: moved.base, paths: moved.paths };
      const tree = mirror.treeAt(moved.base);
      const merged = await createOverlay(tree, moved.entries);
      return { kind: "merged", tree: { base: tree, overlay: merged, baseBranch } };
    },

    async publish(job, work, signal) {
      const project = await projectOf(job);
      const { change, recorder } = work;
      const draftReason = draftReasonOf(change);
      return publishChange(
        {
          forge: await deps.openForge(project),
          mirror: await deps.mirrors.open(project.id),
          store: recorder,
          writes: deps.writes,
          crashPoint: deps.crashPoint,
          warn: (message, error) => deps.log.warn({ err: error, jobId: job.id }, message),
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
          model: work.model,
          usage: work.usage,
          sources: change.sources,
          base: { commit: work.base.commit, ref: work.baseBranch },
          entries: work.overlay.entries(),
          baseConflict: work.baseConflict,
          title: change.title,
          summary: change.summary,
          checks: change.verdict,
          draft: draftReason !== undefined || (job.draft ?? project.settings.draft),
          ...(draftReason === undefined ? {} : { draftReason }),
          stored: work.stored,
          commit: project.settings.commit,
          // People's commits on the branch are below ours, and any that came since end this as a conflict.
          branchExpected: job.continuesBranch ? work.base.commit : null,
        },
        signal,
      );
    },
  };
  return stages;
}

/** The same job, tree and words give the same commit, whoever asks for it. */
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
