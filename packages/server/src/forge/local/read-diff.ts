import { ask, type Repository } from "./repository.ts";

export interface PullRequestDiff {
  files: readonly DiffFile[];
  /** As git writes it, its files in the same order; missing at the end where it was cut. */
  patch: string;
}

const patchBytesMax = 4 * 1024 * 1024;
const listBytesMax = 16 * 1024 * 1024;
const diffMsMax = 20_000;
/** Git holds the whole list before it writes any of it. */
const diffMemoryBytesMax = 256 * 1024 * 1024;
/** Git compares by line, and a docs page has a paragraph a line: a page moved with a word replaced in each keeps few. */
const renames = "-M20%";

export async function readDiff(
  { git, gitDir }: Repository,
  commits: { base: string; head: string },
  signal: AbortSignal,
): Promise<PullRequestDiff> {
  const run = (options: readonly string[], outputBytesMax: number) =>
    git.run(
      {
        gitDir,
        args: ["diff-tree", "-r", renames, ...options, commits.base, commits.head, "--"],
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
  const text = patch.stdout.toString("utf8");
  // What was cut off in the middle of a file would pass for all of it.
  const whole = patch.cut ? text.slice(0, Math.max(0, text.lastIndexOf("\ndiff --git ") + 1)) : text;
  return { files: parseDiffFiles(list.stdout.toString("utf8")), patch: whole };
}

/** A file of a diff, as `git diff --raw --numstat -z` lists it. */
export interface DiffFile {
  status: "added" | "deleted" | "modified" | "renamed" | "copied" | "type";
  path: string;
  /** Where it was before, for renames and copies. */
  pathBefore: string | null;
  /** Null for binary files. */
  added: number | null;
  deleted: number | null;
}

const statuses: Record<string, DiffFile["status"]> = {
  A: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "type",
};

/** Names come from here, NUL-separated, and not from the patch, where git quotes what looks odd. */
export function parseDiffFiles(output: string): readonly DiffFile[] {
  const fields = output.split("\0");
  const raw: Array<Pick<DiffFile, "status" | "path" | "pathBefore">> = [];
  const counts: Array<Pick<DiffFile, "added" | "deleted">> = [];
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? "";
    if (field.startsWith(":")) {
      const status = statuses[field.split(" ")[4]?.[0] ?? ""] ?? "modified";
      const isPair = status === "renamed" || status === "copied";
      const first = fields[at + 1] ?? "";
      raw.push({ status, path: isPair ? (fields[at + 2] ?? "") : first, pathBefore: isPair ? first : null });
      at += isPair ? 2 : 1;
      continue;
    }
    const [added, deleted, path] = field.split("\t");
    if (deleted === undefined) continue;
    counts.push({ added: parseCount(added), deleted: parseCount(deleted) });
    if (path === "") at += 2;
  }
  return raw.map((file, index) => ({ ...file, ...(counts[index] ?? { added: null, deleted: null }) }));
}

function parseCount(text: string | undefined): number | null {
  return text === undefined || text === "-" ? null : Number(text);
}

/** Where two branches stand. */
interface Compared {
  /** The tip of the base branch. */
  baseTip: string;
  head: string;
  /** Where they parted: what the head adds is counted from here. Null: they share nothing. */
  mergeBase: string | null;
}

/** Null where one of the branches is not there. */
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
