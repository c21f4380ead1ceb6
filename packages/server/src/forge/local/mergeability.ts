import { compareBranches } from "./read-diff.ts";
import { ask, type Repository } from "./repository.ts";

/** The result of merging now. */
export type Mergeability =
  | { kind: "clean"; baseTip: string; head: string; mergeBase: string; treeId: string }
  | { kind: "conflicts"; paths: readonly string[] }
  /** The base already contains every commit of the head. */
  | { kind: "contained"; baseTip: string; head: string }
  | { kind: "blocked"; reason: string };

const pathsShownMax = 50;

export async function readMergeability(
  repository: Repository,
  branches: { base: string; head: string },
  signal: AbortSignal,
): Promise<Mergeability> {
  const compared = await compareBranches(repository, branches, signal);
  if (!compared) return { kind: "blocked", reason: "One of the branches was deleted." };
  const { baseTip, head, mergeBase } = compared;
  if (mergeBase === null) return { kind: "blocked", reason: "The branches have no commit in common." };
  if (mergeBase === head) return { kind: "contained", baseTip, head };
  const merged = await ask(
    repository,
    ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", baseTip, head],
    signal,
  );
  const [treeId = "", ...paths] = merged.output.split("\0").filter((field) => field !== "");
  if (merged.code === 0) return { kind: "clean", baseTip, head, mergeBase, treeId };
  if (merged.code === 1) return { kind: "conflicts", paths: paths.slice(0, pathsShownMax) };
  return { kind: "blocked", reason: "git cannot merge these branches." };
}
