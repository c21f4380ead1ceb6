import type { Queryable } from "../db/pool.ts";

/** False where the project has none of this name. Jobs at work keep what they have pinned. */
export async function removeContextRepository(
  db: Queryable,
  input: { projectId: string; name: string },
): Promise<boolean> {
  const { rowCount } = await db.query("delete from context_repositories where project_id = $1 and name = $2", [
    input.projectId,
    input.name,
  ]);
  return rowCount === 1;
}
