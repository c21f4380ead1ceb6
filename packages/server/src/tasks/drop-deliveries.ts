import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** The delivery log; what is still to be sent stays. */
export async function dropDeliveries(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from deliveries where id in (
         select id from deliveries
         where created_at < now() - make_interval(days => $1) and state <> 'pending' order by created_at limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}
