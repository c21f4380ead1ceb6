import { safeText } from "./safe-text.ts";

/** Columns as wide as their widest cell, two spaces between. The first row is the head. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(safeText));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
