import { gitError } from "../git/git.ts";
import { checkObjectIds } from "../git/object-id.ts";
import type { DiffStat } from "../mirror/mirror.ts";
import type { MirrorContext } from "../mirror/mirror-context.ts";

const timeMsMax = 120_000;
const patchBytesMax = 16 * 1024 * 1024;
const statBytesMax = 256 * 1024 * 1024;
/** Plumbing: no drivers, no converters, no colours, whatever a configuration says. */
const command = ["diff-tree", "-r", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color"];

export interface DiffInput {
  from: string;
  to: string;
  bytesMax?: number;
}

export async function diffCommits(
  context: MirrorContext,
  input: DiffInput,
  signal: AbortSignal,
): Promise<{ patch: Buffer; truncated: boolean }> {
  const options = ["--patch", "--full-index", "--src-prefix=a/", "--dst-prefix=b/"];
  const result = await run(context, input, options, input.bytesMax ?? patchBytesMax, signal);
  if (!result.cut) return { patch: result.stdout, truncated: false };
  const whole = result.stdout.lastIndexOf("\ndiff --git ");
  return { patch: result.stdout.subarray(0, whole + 1), truncated: true };
}

export async function diffStat(context: MirrorContext, input: DiffInput, signal: AbortSignal): Promise<DiffStat> {
  const result = await run(context, input, ["--numstat", "-z"], statBytesMax, signal);
  const stat = { files: 0, insertions: 0, deletions: 0 };
  // `<added>\t<removed>\t<path>`, or with an empty path and the two names of a rename as records of their own.
  const records = result.stdout.toString("latin1").split("\0");
  for (let index = 0; index < records.length - 1; index += 1) {
    const [added, removed, path] = (records[index] ?? "").split("\t");
    stat.files += 1;
    stat.insertions += Number(added) || 0;
    stat.deletions += Number(removed) || 0;
    if (path === "") index += 2;
  }
  return stat;
}

async function run(
  context: MirrorContext,
  input: DiffInput,
  options: readonly string[],
  outputBytesMax: number,
  signal: AbortSignal,
) {
  checkObjectIds(input.from, input.to);
  const args = [...command, ...options, input.from, input.to];
  const config = { "core.quotePath": "false" };
  const result = await context.git.run(
    { gitDir: context.place.gitDir, args, config, timeMsMax, outputBytesMax, memoryBytesMax: 2 ** 29 },
    signal,
  );
  if (result.code === 0) return result;
  const what = "The change cannot be shown: a commit is missing from the mirror.";
  throw gitError("repository_unavailable", { what, words: result.words, retryable: true });
}
