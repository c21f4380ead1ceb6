import type { Queryable } from "../db/pool.ts";

const slots = 12;

/** Accepted creates of the last hour, by project and five minutes, oldest first: what the quota counts. */
export async function countCreates(db: Queryable): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.query<{ id: string; slot: number; count: number }>(
    `select project_id as id, count(*)::int as count,
       least(${slots - 1}, floor(extract(epoch from clock_timestamp() - used_at) / 300))::int as slot
     from quota_uses where kind = 'create' and used_at > clock_timestamp() - interval '1 hour'
     group by project_id, slot`,
  );
  const creates = new Map<string, number[]>();
  for (const { id, slot, count } of rows) {
    const counts = creates.get(id) ?? Array<number>(slots).fill(0);
    counts[slots - 1 - slot] = count;
    creates.set(id, counts);
  }
  return creates;
}

export const noCreates: readonly number[] = Array<number>(slots).fill(0);
