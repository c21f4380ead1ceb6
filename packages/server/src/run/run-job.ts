import type { LeasedJob } from "../jobs/leased-job.ts";
import type { CrashPoint } from "./crash-points.ts";
import { proposeChange } from "./propose-change.ts";
import type { Recorder } from "./recorder.ts";
import { resumeChange } from "./resume-change.ts";
import type { Outcome, Stages } from "./run.ts";
import { takeInBase } from "./take-in-base.ts";

export interface RunDeps {
  stages: Stages;
  recorder: Recorder;
  crashPoint(name: CrashPoint): void;
}

/**
 * One attempt to carry a job out, from wherever an earlier one left it: stored steps are not asked of the model
 * again, and a job whose commit is stored is only published.
 */
export async function runJob(deps: RunDeps, job: LeasedJob, signal: AbortSignal): Promise<Outcome> {
  if (job.denied) return { kind: "denied", ...job.denied };
  const { stages, recorder, crashPoint } = deps;
  const { edits, ...said } = await recorder.load();
  crashPoint("after-load");

  const tree = await stages.openTree(job, edits, signal);
  crashPoint("after-tree-opened");
  const { baseBranch: branch, pushedByPeople = [] } = tree;
  if (job.base === null) await recorder.saveBase({ commit: tree.base.commit, branch, pushedByPeople });
  crashPoint("after-base-pinned");

  const proposal = job.change
    ? resumeChange(job, job.change, said.steps)
    : await proposeChange(deps, job, tree, said, signal);
  if (proposal.kind !== "reviewed") return proposal;
  if (job.preview) return { kind: "previewed", change: proposal.change };

  const { model, usage } = proposal;
  const settled = await takeInBase(deps, job, tree, proposal.change, signal);
  if (settled.kind !== "settled") return settled;
  const { change, move, baseConflict } = settled;
  const saveCommit: Recorder["saveCommit"] = (ids) => recorder.saveCommit(ids, move ?? undefined);
  const work = { ...settled.tree, change, model, usage, baseConflict, stored: job.change };
  const publication = await stages.publish(job, { ...work, recorder: { ...recorder, saveCommit } }, signal);
  if (publication.kind === "branch_conflict") return publication;

  crashPoint("before-pull-request-stored");
  await recorder.savePullRequest(publication.pullRequest);
  crashPoint("after-pull-request-stored");
  return { kind: "published", pullRequest: publication.pullRequest, change };
}
