import { type DiffFile, type DiffLine, parseDiffFiles, parsePatch } from "./pages/parse-diff.ts";
import type { Repository } from "./repository.ts";

export interface PullRequestDiff {
  files: readonly DiffFile[];
  /** One list a file; missing at the end where the patch was cut. */
  lines: readonly (readonly DiffLine[])[];
}

const patchBytesMax = 4 * 1024 * 1024;
const listBytesMax = 16 * 1024 * 1024;
const diffMsMax = 20_000;
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
        outputBytesMax,
      },
      signal,
    );
  const [list, patch] = await Promise.all([
    run(["--raw", "--numstat", "-z"], listBytesMax),
    run(["--patch", "--no-color", "--no-ext-diff", "--no-textconv"], patchBytesMax),
  ]);
  const lines = parsePatch(patch.stdout.toString("utf8"));
  return { files: parseDiffFiles(list.stdout.toString("utf8")), lines: patch.cut ? lines.slice(0, -1) : lines };
}
