import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";

/** Sends a message once more, under its old id, however it went before. False where there is no such delivery. */
export async function redeliver(db: Queryable, deliveryId: string): Promise<boolean> {
  const { rows } = await db.query<{ disabled: boolean }>(
    "select disabled_at is not null as disabled from webhooks where id = (select webhook_id from deliveries where id = $1)",
    [deliveryId],
  );
  if (rows[0]?.disabled) {
    throw new AppError("conflict", { publicMessage: "The webhook is disabled. Enable it first." });
  }
  const { rowCount } = await db.query(
    `with again as (
       update deliveries set state = 'pending', tries = 0, due_at = clock_timestamp() where id = $1 returning id
     )
     select pg_notify('${channels.deliveryDue}', '') from again`,
    [deliveryId],
  );
  return rowCount === 1;
}
