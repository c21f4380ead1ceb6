import type { Queryable } from "../db/pool.ts";

/** While disabled it is told of nothing, and what was pending waits. False where there is no such webhook. */
export async function setWebhookEnabled(db: Queryable, id: string, isEnabled: boolean): Promise<boolean> {
  const { rowCount } = await db.query(
    `update webhooks set disabled_at = case when $2 then null else coalesce(disabled_at, clock_timestamp()) end,
       disabled_reason = case when $2 then null else coalesce(disabled_reason, 'by its owner') end
     where id = $1`,
    [id, isEnabled],
  );
  return rowCount === 1;
}
