import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/** For whoever named a webhook: that there is none is told, and not taken for one that was never posted to. */
export async function requireWebhook(db: Queryable, id: string): Promise<void> {
  const { rowCount } = await db.query("select 1 from webhooks where id = $1", [id]);
  if (rowCount === 0) throw new AppError("not_found", { publicMessage: `webhook not found: ${id}` });
}
