import { performance } from "node:perf_hooks";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost, StopAsked } from "./lease.ts";

const sendMsMax = 5_000;

/**
 * The last look before something leaves this machine for good. Renews the lease, unless a stop was asked for before
 * the job began to publish, and says until when, by this process's monotonic clock, the request may still be sent:
 * counted from before the renewal was asked for, so a process that froze in between finds the time past.
 */
export async function renewForEffect(db: Queryable, lease: Lease, leaseMs: number): Promise<{ sendBeforeMs: number }> {
  const sendBeforeMs = performance.now() + Math.min(sendMsMax, leaseMs / 4);
  const { rows } = await db.query<{ stopped: boolean }>(
    `with held as (
       select id, stop_asked is not null and phase <> 'publishing' as stopped
       from jobs where id = $1 and lease = $2 for no key update
     ), renewed as (
       update jobs set lease_until = clock_timestamp() + make_interval(secs => $3)
       from held where jobs.id = held.id and not held.stopped
     )
     select stopped from held`,
    [lease.jobId, lease.token, leaseMs / 1000],
  );
  if (rows[0] === undefined) throw new LeaseLost(lease.jobId);
  if (rows[0].stopped) throw new StopAsked(lease.jobId);
  return { sendBeforeMs };
}
