import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";

/** The commit at which a job reads a context repository. */
export interface PinnedContext {
  name: string;
  repositoryUrl: string;
  forge: string;
  ref: string;
  commit: string;
}

/** Every later run of this job reads the same commit, whatever is pushed to the branch meanwhile. */
export async function recordContext(db: Queryable, lease: Lease, pinned: PinnedContext): Promise<void> {
  const { rowCount } = await db.query(
    `update jobs set updated_at = clock_timestamp(), context = (
       select coalesce(jsonb_agg(one), '[]') from jsonb_array_elements(context) one where one ->> 'name' <> $4
     ) || $3::jsonb where id = $1 and lease = $2`,
    [lease.jobId, lease.token, toJsonb([pinned]), pinned.name],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
