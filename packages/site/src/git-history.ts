/** The last change of a file, from git. */
export interface FileChange {
  /** Later changes have higher ranks. Files changed by one commit have the same rank. */
  rank: number;
  /** Null: not committed yet. */
  commit: string | null;
  /**
   * For example 2026-01-31, or "2026-01-31 or earlier" for a shallow clone's oldest commit. Empty if not committed yet.
   */
  date: string;
}

/** Arguments of `git log` for `parseHistory`: newest first, no parent before its children, with exact renames. */
export const historyArgs: readonly string[] = [
  "log",
  "--no-merges",
  "--date-order",
  "-M100%",
  "--name-status",
  "-z",
  "--format=%x01%H %cs",
];

/**
 * The last change of each file, from the output of git. A file that was only moved keeps its earlier change. `shallow`:
 * git's file of that name, with the boundary commits of a shallow clone.
 */
export function parseHistory(output: string, shallow = ""): Map<string, FileChange> {
  const changes = new Map<string, FileChange>();
  /** A name in an earlier commit → the file's current name. */
  const names = new Map<string, string>();
  let rank = 0;
  let commit = "";
  let date = "";
  const parts = output.split("\0");
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at]?.replace(/^\n/, "") ?? "";
    if (part.startsWith("\x01")) {
      [commit = "", date = ""] = part.slice(1).split(" ");
      if (shallow.includes(commit)) date += " or earlier";
      rank--;
      continue;
    }
    if (part === "") continue;
    const path = parts[++at] ?? "";
    if (!part.startsWith("R")) note(path);
    else {
      const moved = parts[++at] ?? "";
      const today = names.get(moved) ?? moved;
      if (!changes.has(today)) names.set(path, today);
    }
  }
  return changes;

  function note(path: string): void {
    const today = names.get(path) ?? path;
    if (!changes.has(today)) changes.set(today, { rank, commit, date });
  }
}
