import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";

/** What a run tells those who watch its job; `jobs/create-job.ts` tells `job.created`. */
type RunEventKind = "phase" | "step" | "findings" | "pull_request";

export interface FencedWrite {
  /** Assignments on the jobs row; `values` are $5 and on. */
  set: string;
  values: readonly unknown[];
  event: { kind: RunEventKind; data: unknown };
}

/**
 * Changes a job that this run still holds, tells its watchers and wakes those who wait for it, all in one statement:
 * one round trip, one transaction, and the row's lock gives the event its place in the sequence.
 */
export async function writeFenced(db: Queryable, lease: Lease, write: FencedWrite): Promise<void> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set ${write.set}, event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 and lease = $2
       returning id, event_seq
     ), told as (
       insert into job_events (job_id, seq, kind, data) select id, event_seq, $3, $4::jsonb from changed
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [lease.jobId, lease.token, write.event.kind, toJsonb(write.event.data), ...write.values],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
