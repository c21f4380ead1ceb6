import type { Queryable } from "../db/pool.ts";

/** The vendors for which a project has a key of its own. */
export async function listModelKeys(db: Queryable, projectId: string): Promise<readonly string[]> {
  const { rows } = await db.query<{ vendor: string }>(
    "select vendor from model_keys where project_id = $1 order by vendor",
    [projectId],
  );
  return rows.map(({ vendor }) => vendor);
}
