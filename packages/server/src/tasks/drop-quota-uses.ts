import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** Uses of long ago. One window more than counts is kept: a clock set forward and back again frees nothing. */
export async function dropQuotaUses(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from quota_uses where ctid in (
         select ctid from quota_uses where used_at < now() - interval '2 hours' limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}
