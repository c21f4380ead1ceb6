import type { DashboardPull } from "@emend/contract";
import { findRenames, type ListedFile, parseFileList, wholeFiles } from "@emend/tree";
import { ask, type Repository } from "./repository.ts";

export interface PullRequestDiff {
  /** The first ones. */
  files: readonly ListedFile[];
  filesLeftOut: number;
  /** Git's output, in git's order of files. Truncated at the end if it is too large. */
  patch: string;
}

/** As many as GitHub lists. A page with tens of thousands has many megabytes. */
const filesMax = 3_000;
const patchBytesMax = 4 * 1024 * 1024;
const listBytesMax = 16 * 1024 * 1024;
const diffMsMax = 20_000;
/** Git holds the whole list in memory before it writes any of it. */
const diffMemoryBytesMax = 256 * 1024 * 1024;

export async function readDiff(
  { git, gitDir }: Repository,
  commits: { base: string; head: string },
  signal: AbortSignal,
): Promise<PullRequestDiff> {
  const run = (options: readonly string[], outputBytesMax: number) =>
    git.run(
      {
        gitDir,
        args: ["diff-tree", "-r", findRenames, ...options, commits.base, commits.head, "--"],
        timeMsMax: diffMsMax,
        memoryBytesMax: diffMemoryBytesMax,
        outputBytesMax,
      },
      signal,
    );
  const [list, patch] = await Promise.all([
    run(["--raw", "--numstat", "-z"], listBytesMax),
    run(["--patch", "--no-color", "--no-ext-diff", "--no-textconv"], patchBytesMax),
  ]);
  const files = parseFileList(list.stdout.toString("utf8"));
  return {
    files: files.slice(0, filesMax),
    filesLeftOut: Math.max(0, files.length - filesMax),
    patch: wholeFiles(patch).toString("utf8"),
  };
}

const commitsMax = 100;

/** Oldest first. Of very many, the newest. */
export async function listCommits(
  repository: Repository,
  commits: { base: string; head: string },
  signal: AbortSignal,
): Promise<DashboardPull["commits"]> {
  const range = `${commits.base}..${commits.head}`;
  const options = ["--reverse", "-z", `--max-count=${commitsMax}`, "--format=%H%x1f%an%x1f%aI%x1f%s"];
  const { output } = await ask(repository, ["log", ...options, range, "--"], signal);
  return output
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const [id = "", author = "", at = "", ...subject] = entry.split("\x1f");
      return { id, author, at, subject: subject.join(" ") };
    });
}

const fileBytesMax = 1024 * 1024;

/** Null if it does not exist or is too large to show. */
export async function readFileAt(
  repository: Repository,
  commit: string,
  path: string,
  signal: AbortSignal,
): Promise<string | null> {
  const object = `${commit}:${path}`;
  const size = await ask(repository, ["cat-file", "-s", object], signal);
  if (size.code !== 0 || Number(size.output) > fileBytesMax) return null;
  const file = await ask(repository, ["cat-file", "blob", object], signal);
  return file.code === 0 ? file.output : null;
}

/** The state of two branches. */
interface Compared {
  /** The tip of the base branch. */
  baseTip: string;
  head: string;
  /** The merge base. Null if they share no commits. */
  mergeBase: string | null;
}

/** Null if one of the branches does not exist. */
export async function compareBranches(
  repository: Repository,
  branches: { base: string; head: string },
  signal: AbortSignal,
): Promise<Compared | null> {
  const tips = await readTips(repository, [branches.base, branches.head], signal);
  const baseTip = tips.get(branches.base);
  const head = tips.get(branches.head);
  if (!baseTip || !head) return null;
  const { code, output } = await ask(repository, ["merge-base", baseTip, head], signal);
  return { baseTip, head, mergeBase: code === 0 ? output.trim() : null };
}

export async function readTips(
  repository: Repository,
  branches: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const refs = branches.map((branch) => `refs/heads/${branch}`);
  const { output } = await ask(
    repository,
    ["for-each-ref", "--format=%(objectname) %(refname:lstrip=2)", ...refs],
    signal,
  );
  const tips = new Map<string, string>();
  for (const line of output.split("\n")) {
    const [commit = "", ...name] = line.split(" ");
    if (name.length > 0) tips.set(name.join(" "), commit);
  }
  return tips;
}

export async function isAncestor(
  repository: Repository,
  commits: { ancestor: string; of: string },
  signal: AbortSignal,
): Promise<boolean> {
  const { code } = await ask(repository, ["merge-base", "--is-ancestor", commits.ancestor, commits.of], signal);
  return code === 0;
}

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
