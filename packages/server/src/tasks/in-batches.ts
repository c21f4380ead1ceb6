/** Repeats a bounded statement until it finds little left: many short transactions instead of one that holds rows for long. */
export async function inBatches(
  rowsMax: number,
  change: (rowsMax: number) => Promise<{ rowCount: number | null }>,
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await change(rowsMax);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < rowsMax) return total;
  }
}
