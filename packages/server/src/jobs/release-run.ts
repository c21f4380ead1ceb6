import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";

export interface Release {
  /** released: no fault of the job. retry: a far end was away. crash: the run broke in a way nobody foresaw. */
  reason: "released" | "retry" | "crash";
  /** 0: due at once, at the place in the queue that the job had. */
  delayMs: number;
  /** What to tell those who watch, beside the phase. */
  data?: Record<string, unknown>;
}

/** Gives a job back to the queue, for whichever worker comes next. A job that has begun to publish stays in that phase. */
export async function releaseRun(db: Queryable, lease: Lease, release: Release): Promise<void> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set lease = null, lease_until = null,
         phase = case when commit_id is null then 'queued' else phase end,
         run_after = case when $4::float > 0 then clock_timestamp() + make_interval(secs => $4) else run_after end,
         retries = retries + ($3 = 'retry')::int, crashes = crashes + ($3 = 'crash')::int,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 and lease = $2
       returning id, project_id, event_seq, phase
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'phase', jsonb_build_object('phase', phase, 'reason', $3) || $5::jsonb from changed
     )
     select pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id) from changed`,
    [lease.jobId, lease.token, release.reason, release.delayMs / 1000, toJsonb(release.data ?? {})],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
