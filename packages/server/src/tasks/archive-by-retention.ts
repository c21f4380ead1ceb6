import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** Archives jobs that have been final for so long, as a person would. Links stay. */
export async function archiveByRetention(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(500, (rowsMax) =>
    db.query(
      `with old as (
         select id from jobs where status in ('completed', 'failed') and ended_at < now() - make_interval(days => $1)
         order by ended_at limit $2 for no key update skip locked
       ), changed as (
         update jobs set status = 'archived', archived_at = clock_timestamp(),
           event_seq = event_seq + 1, updated_at = clock_timestamp()
         from old where jobs.id = old.id
         returning jobs.id, event_seq
       ), told as (
         insert into job_events (job_id, seq, kind, data)
         select id, event_seq, 'archived', '{"reason": "retention"}' from changed
       )
       select pg_notify('${channels.jobChanged}', id) from changed`,
      [afterDays, rowsMax],
    ),
  );
}
