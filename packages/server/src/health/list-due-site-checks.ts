import type { Queryable } from "../db/pool.ts";

/** Projects that were added since the last round: whoever writes their first job wants to know what is wrong there. */
export async function listNewSites(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from projects where not exists (select from site_checks where project_id = projects.id)
     order by id limit 100`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Projects whose site was not looked at for a day, not since one of their latest jobs ended or was merged, or never with
 * success: an empty repository may have been filled.
 */
export async function listDueSiteChecks(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select id from projects left join lateral (
       select max(checked_at) as at, max(checked_at) filter (where problem is null) as found_at
       from site_checks where project_id = projects.id
     ) last on true
     where found_at is null or at < clock_timestamp() - interval '1 day'
       or exists (select from (select status, updated_at from jobs where project_id = projects.id
                                order by id desc limit 200) latest
                  where status <> 'active' and updated_at > at)
     order by at nulls first limit 100`,
  );
  return rows.map(({ id }) => id);
}
