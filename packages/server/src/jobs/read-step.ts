import type { Queryable } from "../db/pool.ts";

/** One stored turn, as the agent's loop stored it; null: there is none, or its messages were dropped since. */
export async function readStep(
  db: Queryable,
  jobId: string,
  number: number,
): Promise<readonly Record<string, unknown>[] | null> {
  const { rows } = await db.query<{ messages: readonly Record<string, unknown>[] }>(
    "select coalesce(said, messages::json) as messages from steps where job_id = $1 and number = $2",
    [jobId, number],
  );
  return rows[0]?.messages ?? null;
}
