import { gitError } from "../git/git.ts";
import type { MirrorContext } from "../mirror/mirror-context.ts";
import { checkObjectIds } from "../tree.ts";

const timeMsMax = 120_000;
const patchBytesMax = 16 * 1024 * 1024;
/**
 * Git compares lines, and a docs page has one paragraph per line. A moved page with one word replaced everywhere keeps
 * few equal lines.
 */
export const findRenames = "--find-renames=20%";
/** Plumbing: no drivers, converters or colors, whatever a configuration says. */
const command = ["diff-tree", "-r", findRenames, "--no-ext-diff", "--no-textconv", "--no-color"];
const options = ["--patch", "--full-index", "--src-prefix=a/", "--dst-prefix=b/"];

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
  checkObjectIds(input.from, input.to);
  const args = [...command, ...options, input.from, input.to];
  const config = { "core.quotePath": "false" };
  const outputBytesMax = input.bytesMax ?? patchBytesMax;
  const result = await context.git.run(
    { gitDir: context.place.gitDir, args, config, timeMsMax, outputBytesMax, memoryBytesMax: 2 ** 29 },
    signal,
  );
  if (result.code === 0) return { patch: wholeFiles(result), truncated: result.cut };
  const what = "The change cannot be shown: a commit is missing from the mirror.";
  throw gitError("repository_unavailable", { what, words: result.words, retryable: true });
}

/** A file's patch that was cut in the middle would look complete, so it is dropped. */
export function wholeFiles({ stdout, cut }: { stdout: Buffer; cut: boolean }): Buffer {
  return cut ? stdout.subarray(0, stdout.lastIndexOf("\ndiff --git ") + 1) : stdout;
}

/** A changed file, as `git diff-tree -r --raw --numstat -z` lists it. */
export interface ListedFile {
  status: "added" | "deleted" | "modified" | "renamed" | "copied" | "type";
  path: string;
  /** The old path of a rename or copy. */
  pathBefore: string | null;
  /** After the change. */
  mode: string;
  oid: string;
  /** Null for binary files, or if git did not count. */
  added: number | null;
  deleted: number | null;
}

const statuses: Readonly<Record<string, ListedFile["status"]>> = {
  A: "added",
  D: "deleted",
  M: "modified",
  R: "renamed",
  C: "copied",
  T: "type",
};

/** Names are read from here, NUL-separated, because the patch quotes unusual names. */
export function parseFileList(output: string): readonly ListedFile[] {
  const fields = output.split("\0");
  const files: ListedFile[] = [];
  let counted = 0;
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? "";
    if (field.startsWith(":")) {
      const [, mode = "", , oid = "", letter = ""] = field.split(" ");
      const status = statuses[letter[0] ?? ""] ?? "modified";
      const isPair = status === "renamed" || status === "copied";
      const first = fields[at + 1] ?? "";
      const path = isPair ? (fields[at + 2] ?? "") : first;
      files.push({ status, path, pathBefore: isPair ? first : null, mode, oid, added: null, deleted: null });
      at += isPair ? 2 : 1;
      continue;
    }
    const [added, deleted, path] = field.split("\t");
    if (deleted === undefined) continue;
    const file = files[counted++];
    if (file) [file.added, file.deleted] = [parseCount(added), parseCount(deleted)];
    if (path === "") at += 2;
  }
  return files;
}

function parseCount(text: string | undefined): number | null {
  return text === undefined || text === "-" ? null : Number(text);
}
