import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** Keys are honoured for 24 hours; `create_job` looks at their age itself, so dropping them late changes nothing. */
export async function dropIdempotencyKeys(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from idempotency_keys where (project_id, key) in (
         select project_id, key from idempotency_keys where created_at < now() - interval '25 hours'
         order by created_at limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}
