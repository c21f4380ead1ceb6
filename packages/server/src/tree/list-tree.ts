import { isUtf8 } from "node:buffer";
import { AppError } from "../errors.ts";
import type { Git } from "./git.ts";
import { gitError } from "./git-words.ts";
import type { FileMode, TreeEntry, TreeIndex } from "./tree.ts";

const timeMsMax = 120_000;
const entryBytesMax = 5_000;

/** Every file at a commit, by `git ls-tree`. */
export async function listTree(
  git: Git,
  input: { gitDir: string; commit: string; filesMax: number },
  signal: AbortSignal,
): Promise<TreeIndex> {
  const { gitDir, commit, filesMax } = input;
  const args = ["ls-tree", "-r", "-z", "-l", "--full-tree", commit];
  const outputBytesMax = Math.min(filesMax * entryBytesMax, 2 ** 30);
  const result = await git.run({ gitDir, args, timeMsMax, outputBytesMax }, signal);
  if (result.code !== 0) {
    const what = "The commit cannot be read from the mirror.";
    throw gitError("repository_unavailable", { what, words: result.words, retryable: true });
  }
  const index = result.cut ? null : parseTree(result.stdout, filesMax);
  if (index) return index;
  const publicMessage = `The repository has more than ${filesMax} files.`;
  throw new AppError("repository_unavailable", { publicMessage });
}

/** Records of `<mode> <type> <id> <size padded>\t<path>`. Null: too many. */
function parseTree(output: Buffer, filesMax: number): TreeIndex | null {
  const records = isUtf8(output) ? output.toString("utf8").split("\0") : splitBytes(output);
  records.pop();
  if (records.length > filesMax) return null;
  const list: TreeEntry[] = [];
  const entries = new Map<string, TreeEntry>();
  const folderFiles = new Map<string, number>();
  let folder = "";
  let folderCount = 0;
  for (const record of records) {
    const tab = record.indexOf("\t");
    const typeEnd = record.indexOf(" ", 7);
    const idEnd = record.indexOf(" ", typeEnd + 1);
    const path = record.slice(tab + 1);
    // Files of a folder follow each other: counted in one go.
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    if (parent !== folder) {
      countFiles(folderFiles, folder, folderCount);
      folder = parent;
      folderCount = 0;
    }
    folderCount += 1;
    if (path.includes(unreadable)) continue;
    const size = record[tab - 1] === "-" ? null : Number(record.slice(idEnd, tab));
    const entry = { path, mode: fileMode(record.slice(0, 6)), oid: record.slice(typeEnd + 1, idEnd), size };
    list.push(entry);
    entries.set(path, entry);
  }
  countFiles(folderFiles, folder, folderCount);
  return { list, entries, folderFiles };
}

/** A lone surrogate, which no valid UTF-8 decodes to: stands for a segment that cannot be shown. */
const unreadable = "\ud800";

function splitBytes(output: Buffer): string[] {
  const records: string[] = [];
  let start = 0;
  for (let end = output.indexOf(0); end !== -1; end = output.indexOf(0, start)) {
    const record = output.subarray(start, end);
    records.push(isUtf8(record) ? record.toString("utf8") : readableSegments(record));
    start = end + 1;
  }
  records.push("");
  return records;
}

function readableSegments(record: Buffer): string {
  const segments: string[] = [];
  for (let start = 0; start <= record.length; ) {
    const slash = record.indexOf(47, start);
    const end = slash === -1 ? record.length : slash;
    const segment = record.subarray(start, end);
    segments.push(isUtf8(segment) ? segment.toString("utf8") : segmentWithHead(segment));
    start = end + 1;
  }
  return segments.join("/");
}

/** The first segment carries mode and id before its tab. */
function segmentWithHead(segment: Buffer): string {
  const tab = segment.indexOf(9);
  return tab === -1 ? unreadable : segment.toString("latin1", 0, tab + 1) + unreadable;
}

/** For a folder and all that it lies in. */
function countFiles(folderFiles: Map<string, number>, folder: string, files: number): void {
  for (let name = folder; name !== ""; name = name.slice(0, Math.max(0, name.lastIndexOf("/")))) {
    folderFiles.set(name, (folderFiles.get(name) ?? 0) + files);
  }
}

/** Git has kept odd modes (100664) from its first days; they mean plain or executable. */
function fileMode(mode: string): FileMode {
  if (mode === "120000" || mode === "160000") return mode;
  return Number.parseInt(mode, 8) & 0o100 ? "100755" : "100644";
}
