import { AppError, isAppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Logger } from "../lib/logger.ts";
import { publishChange } from "../publish/publish-change.ts";
import type { WriteQueue } from "../publish/write-queue.ts";
import { reviewChange } from "../review/review-change.ts";
import { createOverlay } from "../tree/overlay.ts";
import { commitOf } from "./commit-of.ts";
import type { CrashPoint } from "./crash-points.ts";
import { draftReasonOf } from "./draft-reason.ts";
import { isRetitled, pullTitleOf } from "./pull-title.ts";
import { pushedByPeople } from "./pushed-by-people.ts";
import type { Stages } from "./run.ts";
import { askedOf, policyOf, type RunProject } from "./run-project.ts";
import { wholeOf } from "./whole-of.ts";
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
    throw new AppError("internal", { publicMessage: "The job's project was removed." });
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
      return reviewChange(
        {
          base,
          overlay,
          ...(whole && {
            whole: { base: whole.treeAt(whole.base), head: whole.treeAt(whole.head), entries: whole.entries },
          }),
          policy: policyOf(project),
          asked: askedOf(job),
          knownSecrets: await deps.knownSecrets(project.id),
          ...words,
          siteCache: deps.siteCache,
          pageReader: deps.pageReader,
        },
        signal,
      );
    },

    async diff(job, tree, words, signal) {
      const project = await projectOf(job);
      const mirror = await deps.mirrors.open(job.projectId);
      const whole = await wholeOf(deps, project, job, tree, words, signal);
      const base = whole?.base ?? tree.base.commit;
      const to = whole?.head ?? (await mirror.commit(commitOf(project, job, tree, words), signal)).commitId;
      return { patch: (await mirror.diff({ from: base, to }, signal)).patch, base };
    },

    async takeInBase(job, tree, words, signal) {
      const { base, overlay, baseBranch } = tree;
      const project = await projectOf(job);
      if (job.continuesBranch) {
        // Its branch is other people's too: nothing is merged into it, but who merges it is told what is in the way.
        const whole = await wholeOf(deps, project, job, tree, words, signal);
        if (!whole || whole.moved.conflict.length === 0) return { kind: "unmoved" };
        return { kind: "conflict", commit: whole.moved.tip, paths: whole.moved.conflict };
      }
      const mirror = await deps.mirrors.open(project.id);
      const remote = await (await deps.openForge(project)).gitRemote(signal);
      const ours = commitOf(project, job, { base, overlay }, words);
      const moved = await mirror.takeInBase({ remote, branch: baseBranch, ours }, signal);
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
      return publishChange(
        {
          forge: await deps.openForge(project),
          mirror: await deps.mirrors.open(project.id),
          store: recorder,
          writes: deps.writes,
          crashPoint: deps.crashPoint,
          async warn(message, error) {
            deps.log.warn({ err: error, jobId: job.id }, "publishing left something undone");
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
          // People's commits on the branch are below ours, and any that came since end this as a conflict.
          branchExpected: job.continuesBranch ? work.base.commit : null,
        },
        signal,
      );
    },
  };
  return stages;
}
