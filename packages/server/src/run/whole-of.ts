import type { Forge } from "../forge/forge.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Mirrors, ProposedHead } from "../tree/mirror.ts";
import type { Tree } from "../tree/tree.ts";
import { commitOf } from "./commit-of.ts";
import type { OpenTree, Words } from "./run.ts";
import type { RunProject } from "./run-project.ts";

interface Whole extends ProposedHead {
  fork: string;
  treeAt(commit: string): Tree;
}

/**
 * The pull request that a follow-up goes on with, as its reviewer will see it: every round's work and people's commits,
 * against the branch that it is proposed to. Null where the round at hand is all there is, or nobody noted what came
 * before it.
 */
export async function wholeOf(
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
