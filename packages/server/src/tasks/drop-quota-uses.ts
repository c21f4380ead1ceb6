import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** Uses older than two windows, of projects that nobody uses any more: the others forget theirs with each use. */
export async function dropQuotaUses(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from quota_uses where ctid in (
         select ctid from quota_uses where used_at < now() - interval '2 hours' limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}
