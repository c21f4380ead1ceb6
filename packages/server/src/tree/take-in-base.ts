import { AppError } from "../errors.ts";
import { type BlobReader, unreadable } from "./blob-reader.ts";
import { buildCommit } from "./build-commit.ts";
import { fetchBase } from "./fetch-base.ts";
import { gitError } from "./git-words.ts";
import type { CommitInput, MovedBase, Remote } from "./mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { isObjectId } from "./object-id.ts";
import { movedPin } from "./pin-names.ts";
import { resolveBranch } from "./resolve-base.ts";
import type { FileMode, OverlayEntry } from "./tree.ts";

const timeMsMax = 120_000;
const outputBytesMax = 64 * 1024 * 1024;
const mergeConfig = { "merge.directoryRenames": "false" };
const nobody = { "user.name": "Emend", "user.email": "noreply@emend.invalid" };

interface TakeInDeps {
  context: MirrorContext;
  reader: BlobReader;
}

/** A three-way merge a file between a job's edits and what happened on its base branch meanwhile. */
export async function takeInBase(
  deps: TakeInDeps,
  input: { remote: Remote; branch: string; ours: CommitInput },
  signal: AbortSignal,
): Promise<MovedBase> {
  const { context } = deps;
  const { remote, branch, ours } = input;
  const now = await resolveBranch(context.git, { remote, branch }, signal);
  if (now === null || now === ours.base) return { kind: "unmoved" };
  const pins = [movedPin(ours.jobId)];
  const { commit: theirs } = await fetchBase(context, { remote, baseRef: branch, pins }, signal);
  const { commitId } = await buildCommit(context, ours, signal);
  const merged = await mergeTrees(context, { base: ours.base, ours: commitId, theirs }, signal);
  if (merged.paths.length > 0) return { kind: "conflict", base: theirs, paths: merged.paths };
  const entries = await readEntries(deps, theirs, merged.tree, signal);
  const paths = carriedAway(ours.entries, entries);
  return paths.length > 0 ? { kind: "conflict", base: theirs, paths } : { kind: "merged", base: theirs, entries };
}

/** Git lets an edit follow a file that was renamed there; but what was judged at one path stays at that path. */
function carriedAway(ours: readonly OverlayEntry[], merged: readonly OverlayEntry[]): readonly string[] {
  const own = new Set(ours.map(({ path }) => path));
  const foreign = merged.map(({ path }) => path).filter((path) => !own.has(path));
  if (foreign.length === 0) return [];
  const kept = new Set(merged.map(({ path }) => path));
  const left = ours.map(({ path }) => path).filter((path) => !kept.has(path));
  return left.length > 0 ? left : foreign;
}

async function mergeTrees(
  context: MirrorContext,
  commits: { base: string; ours: string; theirs: string },
  signal: AbortSignal,
): Promise<{ tree: string; paths: readonly string[] }> {
  const { gitDir } = context.place;
  return withStore(context, "shared", signal, async (descriptor) => {
    const common = { gitDir, timeMsMax, outputBytesMax, descriptors: [descriptor] };
    // A mirror has no history, so nothing says where both came from but a commit made to say it.
    const args = ["commit-tree", "-p", commits.base, "-m", "moved base", `${commits.theirs}^{tree}`];
    const theirs = (await context.git.must({ ...common, args, config: nobody }, signal)).toString().trim();
    const merge = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", theirs, commits.ours];
    const result = await context.git.run({ ...common, args: merge, config: mergeConfig }, signal);
    const [tree = "", ...paths] = result.stdout.toString("utf8").split("\0");
    // 0: clean. 1: files in conflict. Anything else is no answer.
    if (result.code > 1 || result.cut || !isObjectId(tree)) {
      const what = "The base branch moved on and could not be merged.";
      throw gitError("repository_unavailable", { what, words: result.words, retryable: true });
    }
    return { tree, paths: result.code === 0 ? [] : [...new Set(paths.filter((path) => path !== ""))] };
  });
}

/** What the merged tree has that the new base has not. */
async function readEntries(
  { context, reader }: TakeInDeps,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly OverlayEntry[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
  const { gitDir } = context.place;
  const records = (await context.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal))
    .toString("utf8")
    .split("\0");
  const changed: { path: string; mode: string; oid: string; status: string }[] = [];
  for (let index = 0; index + 1 < records.length; index += 2) {
    const [, mode = "", , oid = "", status = ""] = (records[index] ?? "").split(" ");
    changed.push({ path: records[index + 1] ?? "", mode, oid, status });
  }
  return Promise.all(
    changed.map(async ({ path, mode, oid, status }): Promise<OverlayEntry> => {
      if (status === "D") return { path, mode: "100644", content: null };
      const content = await reader.read(oid);
      if (!content) throw unreadable(oid);
      return { path, mode: plainMode(mode), content };
    }),
  );
}

/** A job writes plain files alone, and merging adds none of another kind. */
function plainMode(mode: string): FileMode {
  if (mode === "100644" || mode === "100755") return mode;
  throw new AppError("internal", { publicMessage: `A merge gave a file of mode ${mode}.` });
}
