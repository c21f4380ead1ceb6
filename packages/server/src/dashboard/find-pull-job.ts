import type { Queryable } from "../db/pool.ts";

/** The job whose pull request this is. */
export async function findPullJob(db: Queryable, pull: { projectId: string; number: number }): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>(
    `select id from jobs where project_id = $1 and (pull_request ->> 'number')::int = $2 order by id desc limit 1`,
    [pull.projectId, pull.number],
  );
  return rows[0]?.id ?? null;
}
