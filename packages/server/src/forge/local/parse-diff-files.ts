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

function parseCount(text: string | undefined): number | null {
  return text === undefined || text === "-" ? null : Number(text);
}
