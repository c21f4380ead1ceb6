import type { Queryable } from "../db/pool.ts";

/** Accepted creates of the last hour, by project: what the quota counts. */
export async function countCreates(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const { rows } = await db.query<{ id: string; count: number }>(
    `select project_id as id, count(*)::int as count from quota_uses
     where kind = 'create' and used_at > clock_timestamp() - interval '1 hour' group by project_id`,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}
