import { type DiffFile, parseDiffFiles } from "./parse-diff-files.ts";
import type { Repository } from "./repository.ts";

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
