import type { FailureCode } from "@emend/contract";
import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import { type Lease, LeaseLost } from "./lease.ts";
import { toText } from "./to-jsonb.ts";

export type Ending =
  | { kind: "completed"; summary: string }
  | { kind: "failed"; code: FailureCode; message: string }
  /** As it was asked to: archived or cancelled. */
  | { kind: "stopped" };

/**
 * The one way out: final state, link, branch and event together. A stop that was asked for meanwhile is applied here,
 * whatever the outcome, but a cancellation no longer undoes a publication. The branch is shown no more if nothing was
 * pushed. Returns "publishing" where a stop came too late: then the job must be carried through instead.
 */
export async function endRun(db: Queryable, lease: Lease, ending: Ending): Promise<"ended" | "publishing"> {
  const { rows } = await db.query<{ ended: boolean }>(
    `with held as (
       select id,
         stop_asked = 'archive' as archived,
         stop_asked = 'cancel' and commit_id is null as cancelled,
         $3 <> 'stopped' or commit_id is null as ended
       from jobs where id = $1 and lease = $2 for no key update
     ), changed as (
       update jobs set
         status = case when archived then 'archived' when cancelled or $3 <> 'completed' then 'failed' else $3 end,
         archived_at = case when archived then clock_timestamp() end,
         failure_code = case when cancelled then 'cancelled' else $4 end,
         failure_message = case when cancelled then 'The job was cancelled.' else $5 end,
         summary = coalesce($6, summary),
         pr_link = pull_request ->> 'url',
         ref = case when pushed then branch end,
         -- What was said on the pull request during the run was not listened to.
         pull_request_look_at = null,
         ended_at = clock_timestamp(), stop_asked = null, waiting_since = null, lease = null, lease_until = null,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       from held where jobs.id = held.id and held.ended
       returning jobs.id, event_seq, status, pr_link, failure_code, failure_message
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, status, jsonb_strip_nulls(jsonb_build_object(
         'prLink', pr_link, 'code', failure_code, 'message', failure_message)) from changed
     )
     select ended, (select pg_notify('${channels.jobChanged}', id) from changed) from held`,
    [
      lease.jobId,
      lease.token,
      ending.kind,
      ending.kind === "failed" ? ending.code : null,
      ending.kind === "failed" ? toText(ending.message) : null,
      ending.kind === "completed" ? toText(ending.summary) : null,
    ],
  );
  if (rows[0] === undefined) throw new LeaseLost(lease.jobId);
  return rows[0].ended ? "ended" : "publishing";
}
