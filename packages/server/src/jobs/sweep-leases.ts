import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";

export interface SweptJob {
  id: string;
  crashes: number;
}

/**
 * Takes expired leases away and counts a crash for each: its worker is gone, or will find every write refused. The
 * jobs are due at once; whoever claims one with too many crashes ends it.
 */
export async function sweepLeases(db: Queryable): Promise<readonly SweptJob[]> {
  const { rows } = await db.query<SweptJob>(
    `with expired as (
       select id from jobs where lease is not null and lease_until < statement_timestamp()
       order by id limit 100 for no key update skip locked
     ), changed as (
       update jobs set lease = null, lease_until = null, crashes = crashes + 1,
         phase = case when commit_id is null then 'queued' else phase end,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       from expired where jobs.id = expired.id
       returning jobs.id, project_id, event_seq, phase, crashes
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'phase', jsonb_build_object('phase', phase, 'reason', 'crash', 'crashes', crashes) from changed
     )
     select id, crashes, pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id)
     from changed`,
  );
  return rows.map(({ id, crashes }) => ({ id, crashes }));
}
