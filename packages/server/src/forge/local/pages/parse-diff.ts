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

export type DiffLine =
  | { kind: "hunk"; text: string }
  | { kind: "context"; before: number; after: number; text: string }
  | { kind: "deleted"; before: number; text: string }
  | { kind: "added"; after: number; text: string }
  /** What git says about a line or a file, such as a missing newline. */
  | { kind: "note"; text: string };

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

/** The patch cut into one list of lines a file, in the order of `parseDiffFiles`. */
export function parsePatch(patch: string): readonly (readonly DiffLine[])[] {
  const files: DiffLine[][] = [];
  let lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let isInHunk = false;
  for (const line of patch.split("\n")) {
    // Inside a hunk every line begins with a space, a sign or a backslash: this can only be a header.
    if (line.startsWith("diff --git ")) {
      lines = [];
      files.push(lines);
      isInHunk = false;
      continue;
    }
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      isInHunk = true;
      lines.push({ kind: "hunk", text: line });
      continue;
    }
    if (!isInHunk) {
      if (/^(old|new) mode |^Binary files /.test(line)) lines.push({ kind: "note", text: noteOf(line) });
      continue;
    }
    const text = line.slice(1);
    if (line.startsWith(" ")) lines.push({ kind: "context", before: before++, after: after++, text });
    else if (line.startsWith("-")) lines.push({ kind: "deleted", before: before++, text });
    else if (line.startsWith("+")) lines.push({ kind: "added", after: after++, text });
    else if (line.startsWith("\\")) lines.push({ kind: "note", text: text.trim() });
  }
  return files;
}

function noteOf(line: string): string {
  return line.startsWith("Binary files ") ? "Binary file: not shown" : line;
}

function parseCount(text: string | undefined): number | null {
  return text === undefined || text === "-" ? null : Number(text);
}
