import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost, StopAsked } from "./lease.ts";

/**
 * Stores what is about to be pushed and begins to publish, unless a stop was asked for. From here on the job is
 * carried through: a later run pushes this commit and never asks the model again, and a stop waits for the outcome.
 */
export async function recordCommit(
  db: Queryable,
  lease: Lease,
  ids: { treeId: string; commitId: string },
): Promise<void> {
  const { rows } = await db.query<{ stopped: boolean }>(
    `with held as (
       select id, stop_asked is not null and commit_id is null as stopped
       from jobs where id = $1 and lease = $2 for no key update
     ), changed as (
       update jobs set tree_id = $3, commit_id = $4, phase = 'publishing', retries = 0,
         waiting_since = case when jobs.commit_id is not null then waiting_since end,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       from held where jobs.id = held.id and not held.stopped
       returning jobs.id, event_seq
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'phase', jsonb_build_object('phase', 'publishing', 'commit', $4::text) from changed
     )
     select stopped, (select pg_notify('${channels.jobChanged}', id) from changed) from held`,
    [lease.jobId, lease.token, ids.treeId, ids.commitId],
  );
  if (rows[0] === undefined) throw new LeaseLost(lease.jobId);
  if (rows[0].stopped) throw new StopAsked(lease.jobId);
}
