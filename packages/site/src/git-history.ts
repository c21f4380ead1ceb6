/** When a file last changed, as git tells it. */
export interface FileChange {
  /** Later changes have greater ranks; what one commit changed has the same. */
  rank: number;
  /** Null: changed and not committed yet. */
  commit: string | null;
  /** As 2026-01-31, or "2026-01-31 or earlier" in a shallow clone's oldest commit; empty where it is not committed yet. */
  date: string;
}

/** What `parseHistory` reads: the newest commit first, none before its children, files that only moved as what they are. */
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
 * The last change of each file, from the output of git. A file that was only moved keeps the change it had before.
 * `shallow`: git's file of that name, with the commits beyond which nothing was fetched.
 */
export function parseHistory(output: string, shallow = ""): Map<string, FileChange> {
  const changes = new Map<string, FileChange>();
  /** A name in an earlier commit → the name that the file has today. */
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
