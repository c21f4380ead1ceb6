import type { Queryable } from "../db/pool.ts";

/** Which of these jobs are not final. */
export async function findActiveJobs(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    "select id from jobs where id = any($1::text[]) and status = 'active'",
    [ids],
  );
  return new Set(rows.map((row) => row.id));
}
