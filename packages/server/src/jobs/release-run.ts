import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";

export interface Release {
  /**
   * released: no fault of the job. retry: a far end was away. waiting: its forge is away while there is work to publish.
   * crash: the run broke in a way nobody foresaw.
   */
  reason: "released" | "retry" | "waiting" | "crash";
  /** 0: due at once, at the place in the queue that the job had. */
  delayMs: number;
  /** What to tell those who watch, beside the phase. */
  data?: Record<string, unknown>;
}

/** In SQL: nobody works on the job, because its forge is away. It may be stopped although it has begun to publish. */
export const isWaiting = "(waiting_since is not null and lease is null)";

/**
 * In SQL, of a row `found` that is being stopped: it was waiting with a commit to publish, and an answer of its forge may have
 * been lost. The watch looks for its pull request once the forge is back.
 */
export const mayHavePublished =
  "(found.commit_id is not null and found.waiting_since is not null and found.pull_request is null)";

/** Gives a job back to the queue, for whichever worker comes next. A job that has begun to publish stays in that phase. */
export async function releaseRun(db: Queryable, lease: Lease, release: Release): Promise<void> {
  const { rowCount } = await db.query(
    `with held as (
       select id, $3 <> 'waiting' or waiting_since is null as is_told
       from jobs where id = $1 and lease = $2 for no key update
     ), changed as (
       update jobs set lease = null, lease_until = null,
         phase = case when commit_id is null then 'queued' else phase end,
         waiting_since = case when $3 = 'waiting' then coalesce(waiting_since, clock_timestamp()) else waiting_since end,
         waiting_words = case when $3 = 'waiting' then $5::jsonb ->> 'message' else waiting_words end,
         run_after = case when $4::float > 0 then clock_timestamp() + make_interval(secs => $4) else run_after end,
         retries = retries + ($3 = 'retry')::int, crashes = crashes + ($3 = 'crash')::int,
         -- A job that goes on waiting has told so: its run says when the next try is.
         event_seq = event_seq + is_told::int, updated_at = clock_timestamp()
       from held where jobs.id = held.id
       returning jobs.id, project_id, event_seq, phase, is_told
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'phase', jsonb_build_object('phase', phase, 'reason', $3::text) || $5::jsonb from changed
       where is_told
     )
     select pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id) from changed`,
    [lease.jobId, lease.token, release.reason, release.delayMs / 1000, toJsonb(release.data ?? {})],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
