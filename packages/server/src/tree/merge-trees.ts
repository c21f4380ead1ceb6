import { type BlobReader, unreadable } from "./blob-reader.ts";
import { gitError } from "./git-words.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { isObjectId } from "./object-id.ts";
import type { FileMode, OverlayEntry } from "./tree.ts";

const timeMsMax = 120_000;
const outputBytesMax = 64 * 1024 * 1024;
const mergeConfig = { "merge.directoryRenames": "false" };
const nobody = { "user.name": "Emend", "user.email": "noreply@emend.invalid" };

/** A three-way merge a file; the commit is one that no branch points at. */
export async function mergeTrees(
  context: MirrorContext,
  commits: { base: string; ours: string; theirs: string },
  signal: AbortSignal,
): Promise<{ tree: string; commit: string; paths: readonly string[] }> {
  const { gitDir } = context.place;
  return withStore(context, "shared", signal, async (descriptor) => {
    const common = { gitDir, timeMsMax, outputBytesMax, descriptors: [descriptor] };
    const commitOn = async (parent: string, tree: string) => {
      const args = ["commit-tree", "-p", parent, "-m", "moved base", tree];
      return (await context.git.must({ ...common, args, config: nobody }, signal)).toString().trim();
    };
    // A mirror has no history, so nothing says where both came from but commits made to say it.
    const theirs = await commitOn(commits.base, `${commits.theirs}^{tree}`);
    const ours = await commitOn(commits.base, `${commits.ours}^{tree}`);
    const merge = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", theirs, ours];
    const result = await context.git.run({ ...common, args: merge, config: mergeConfig }, signal);
    const [tree = "", ...paths] = result.stdout.toString("utf8").split("\0");
    // 0: clean. 1: files in conflict. Anything else is no answer.
    if (result.code > 1 || result.cut || !isObjectId(tree)) {
      const what = "The base branch moved on and could not be merged.";
      throw gitError("repository_unavailable", { what, words: result.words, retryable: true });
    }
    const commit = await commitOn(commits.theirs, tree);
    return { tree, commit, paths: result.code === 0 ? [] : [...new Set(paths.filter((path) => path !== ""))] };
  });
}

/** The plain files that one tree has and another has not, or has otherwise. */
export async function readEntries(
  { context, reader }: { context: MirrorContext; reader: BlobReader },
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly OverlayEntry[]> {
  const changed = await listChanged(context, from, to, signal);
  return Promise.all(
    changed.map(async ({ path, mode, oid }): Promise<OverlayEntry> => {
      if (oid === null) return { path, mode: "100644", content: null };
      const content = await reader.read(oid);
      if (!content) throw unreadable(oid);
      return { path, mode, content };
    }),
  );
}

/** Symbolic links and submodules are nobody's to read, and stay out. */
async function listChanged(
  context: MirrorContext,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly { path: string; mode: FileMode; oid: string | null }[]> {
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
  const { gitDir } = context.place;
  const records = (await context.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal))
    .toString("utf8")
    .split("\0");
  const changed: { path: string; mode: FileMode; oid: string | null }[] = [];
  for (let index = 0; index + 1 < records.length; index += 2) {
    const [, mode = "", , oid = "", status = ""] = (records[index] ?? "").split(" ");
    const path = records[index + 1] ?? "";
    if (status === "D") changed.push({ path, mode: "100644", oid: null });
    else if (mode === "100644" || mode === "100755") changed.push({ path, mode, oid });
  }
  return changed;
}

/** The files in which two commits differ, whatever they are. */
export async function changedPaths(
  context: MirrorContext,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to];
  const { gitDir } = context.place;
  const names = await context.git.must({ gitDir, args, timeMsMax, outputBytesMax }, signal);
  return names
    .toString("utf8")
    .split("\0")
    .filter((path) => path !== "");
}
