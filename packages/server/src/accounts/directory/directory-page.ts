import type { Queryable } from "../../db/pool.ts";

/** Part of a list. SCIM counts from 1. */
export interface PageAsked {
  filter: { attribute: string; value: string } | null;
  startIndex: number;
  count: number;
}

export interface Page<T> {
  rows: readonly T[];
  total: number;
}

/** Reads a page in the order of creation. The source's texts are ours, never a caller's. */
export async function readPage<T extends object>(
  db: Queryable,
  source: { table: string; columns: string; filters: Readonly<Record<string, string>> },
  { filter, startIndex, count }: PageAsked,
): Promise<Page<T>> {
  const where = filter ? `where ${source.filters[filter.attribute]}` : "where $1::text is null";
  // No stored text has U+0000, which the database refuses.
  const value = filter ? filter.value.replaceAll("\0", "\ufffd") : null;
  const total = await db.query<{ total: number }>(`select count(*)::int as total from ${source.table} ${where}`, [
    value,
  ]);
  const { rows } = await db.query<T>(
    `select ${source.columns} from ${source.table} ${where} order by id limit $2 offset $3`,
    [value, count, startIndex - 1],
  );
  return { rows, total: total.rows[0]?.total ?? 0 };
}
