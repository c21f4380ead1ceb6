/** `npm test` runs a few rows, and the day selects which. With `--mode whole`, a suite runs every row. */
export const isWhole = process.env.MODE === "whole";
export const seed = Number(process.env.EMEND_SEED ?? Math.floor(Date.now() / 86_400_000));

/** Spread over the rows, and starting elsewhere for each seed. All rows come up in turn. */
export function sampleOf<Row>(rows: readonly Row[], count: number, from = seed): readonly Row[] {
  if (isWhole || count >= rows.length) return rows;
  return Array.from({ length: count }, (_, index) => {
    const at = (from + Math.floor((index * rows.length) / count)) % rows.length;
    return rows[at] as Row;
  });
}
