import type { DiffLine } from "./parse-patch.ts";

/** One row side by side; where only one half is there, the other is empty. A line that stayed is both halves. */
export interface DiffRow {
  left: DiffLine | null;
  right: DiffLine | null;
  /** The two are the same line, edited: `diffWords` says where. Left to whoever shows the row, since it costs. */
  isEdited: boolean;
}

/**
 * Deleted lines beside those that took their place: runs of equal length are taken as the same lines, edited. Stacked,
 * for one column, the lines of other runs keep git's order.
 */
export function pairLines(lines: readonly DiffLine[], options: { stacked: boolean }): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  for (let at = 0; at < lines.length; ) {
    const deletedEnd = endOfRun(lines, at, "deleted");
    const addedEnd = endOfRun(lines, deletedEnd, "added");
    if (addedEnd === at) {
      const line = lines[at] as DiffLine;
      rows.push({ left: line, right: line, isEdited: false });
      at += 1;
      continue;
    }
    const deleted = lines.slice(at, deletedEnd);
    const added = lines.slice(deletedEnd, addedEnd);
    const isEdited = deleted.length === added.length;
    if (options.stacked && !isEdited) {
      for (const line of deleted) rows.push({ left: line, right: null, isEdited });
      for (const line of added) rows.push({ left: null, right: line, isEdited });
    } else {
      for (let index = 0; index < Math.max(deleted.length, added.length); index += 1) {
        rows.push({ left: deleted[index] ?? null, right: added[index] ?? null, isEdited });
      }
    }
    at = addedEnd;
  }
  return rows;
}

function endOfRun(lines: readonly DiffLine[], from: number, kind: DiffLine["kind"]): number {
  let end = from;
  while (lines[end]?.kind === kind) end += 1;
  return end;
}
