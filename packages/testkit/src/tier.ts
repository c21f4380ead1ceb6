/** `npm test` runs what a developer needs after a change. `npm run test:all` and `npm run unit` run everything. */
export const isQuick = process.env.MODE === "quick";

/** The rows of a large table: all of them, or in `npm test` this many, the same ones every time and spread over the table. */
export function quickRows<Row>(rows: readonly Row[], count: number): readonly Row[] {
  if (!isQuick || count >= rows.length) return rows;
  return Array.from({ length: count }, (_, index) => rows[Math.floor((index * rows.length) / count)] as Row);
}
