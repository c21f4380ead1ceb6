import type { Queryable } from "../db/pool.ts";
import { inBatches } from "./in-batches.ts";

/** What a run needs to go on is of no use once the job is long final: the diff, the usage and the events stay. */
export async function dropRunContents(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(100, (rowsMax) =>
    db.query(
      `with done as (
         select id from jobs
         where ended_at < now() - make_interval(days => $1) and contents_dropped_at is null and status <> 'active'
         order by ended_at limit $2 for no key update skip locked
       ), emptied as (
         update steps set messages = '[]' from done where steps.job_id = done.id
       ), dropped as (
         delete from overlay using done where overlay.job_id = done.id
       )
       update jobs set contents_dropped_at = clock_timestamp() from done where jobs.id = done.id`,
      [afterDays, rowsMax],
    ),
  );
}
