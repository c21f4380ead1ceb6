import type { Queryable } from "../db/pool.ts";

/** Whether any project's repository lies in the local forge's folder, which its processes must then share. */
export async function hasLocalProjects(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    "select exists (select from projects where forge = 'local') as found",
  );
  return rows[0]?.found === true;
}
