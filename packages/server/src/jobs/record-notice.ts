import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toText } from "./to-jsonb.ts";

const noticesMax = 20;

/** Notes on the job what did not work and does not fail it; the same words once, however often they are said. */
export async function recordNotice(db: Queryable, lease: Lease, words: string): Promise<void> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set updated_at = clock_timestamp(),
         notices = case when notices ? $3 or jsonb_array_length(notices) >= ${noticesMax} then notices
           else notices || to_jsonb($3::text) end
       where id = $1 and lease = $2 returning id
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [lease.jobId, lease.token, toText(words)],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
