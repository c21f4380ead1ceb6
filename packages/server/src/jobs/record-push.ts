import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";

/** The branch exists on the forge now: the job keeps showing it, however it ends. */
export async function recordPush(db: Queryable, lease: Lease): Promise<void> {
  const { rowCount } = await db.query("update jobs set pushed = true where id = $1 and lease = $2", [
    lease.jobId,
    lease.token,
  ]);
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
