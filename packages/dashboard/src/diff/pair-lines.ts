import type { DiffLine } from "./parse-patch.ts";
import { diffWords, type Span } from "./word-diff.ts";

/** One row side by side; unified, its halves stand one above the other. */
export interface Row {
  left: DiffLine | null;
  right: DiffLine | null;
  /** Where the two are the same line, edited. */
  words: { before: readonly Span[]; after: readonly Span[] } | null;
}

/** Deleted lines beside those that took their place: runs of equal length are taken as the same lines, edited. */
export function pairLines(lines: readonly DiffLine[]): readonly Row[] {
  const rows: Row[] = [];
  for (let at = 0; at < lines.length; ) {
    const deletedEnd = endOfRun(lines, at, "deleted");
    const addedEnd = endOfRun(lines, deletedEnd, "added");
    const deleted = lines.slice(at, deletedEnd);
    const added = lines.slice(deletedEnd, addedEnd);
    for (let index = 0; index < Math.max(deleted.length, added.length); index += 1) {
      const left = deleted[index] ?? null;
      const right = added[index] ?? null;
      const isEdited = left && right && deleted.length === added.length;
      rows.push({ left, right, words: isEdited ? diffWords(left.text, right.text) : null });
    }
    if (addedEnd > at) {
      at = addedEnd;
      continue;
    }
    const line = lines[at] as DiffLine;
    rows.push({ left: line, right: line, words: null });
    at += 1;
  }
  return rows;
}

function endOfRun(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end;
}
