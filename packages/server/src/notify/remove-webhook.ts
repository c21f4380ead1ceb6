import type { Queryable } from "../db/pool.ts";

/** With its delivery log. False where there is no such webhook. */
export async function removeWebhook(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from webhooks where id = $1", [id]);
  return rowCount === 1;
}
