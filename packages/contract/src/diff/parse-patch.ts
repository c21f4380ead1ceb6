export type DiffLine =
  | { kind: "hunk" | "note"; text: string }
  | { kind: "context"; before: number; after: number; text: string }
  | { kind: "deleted"; before: number; text: string }
  | { kind: "added"; after: number; text: string };

/** A unified diff as git writes it, cut into one list of lines a file. */
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
      if (/^(old|new) mode |^rename (from|to) /.test(line)) lines.push({ kind: "note", text: line });
      if (line.startsWith("Binary files ")) lines.push({ kind: "note", text: "Binary file: not shown" });
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
