import type { LeasedJob } from "../jobs/leased-job.ts";
import { authorOf, commitMessage } from "../publish/commit-message.ts";
import type { CommitInput } from "../tree/mirror.ts";
import type { OpenTree, Words } from "./run.ts";
import type { RunProject } from "./run-project.ts";

/** The same job, tree and words give the same commit, whoever asks for it. */
export function commitOf(
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
