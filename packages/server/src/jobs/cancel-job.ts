import { channels } from "../db/channels.ts";
import type { Pool } from "../db/pool.ts";
import { isJobId } from "./job-id.ts";
import type { JobReader } from "./job-reader.ts";
import { isWaiting, mayHavePublished } from "./release-run.ts";
import { toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

export type CancelOutcome =
  /** Final: now, or already before. */
  | { kind: "final"; job: WireJob }
  | { kind: "unknown_job" }
  /** Too late: its pull request may exist already. */
  | { kind: "publishing" };

/** Ends an active job. It loses its lease in the same write, so its run can store and publish nothing more. */
export async function cancelJob(
  deps: { pool: Pool; reader: JobReader },
  job: { id: string; projectId: string },
): Promise<CancelOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const { rows } = await deps.pool.query<WireRow & { is_publishing: boolean }>({
    name: "cancel-job",
    text: `
      with found as (
        select *, status = 'active' and (phase = 'publishing' or commit_id is not null) and not ${isWaiting} as is_publishing
        from jobs where id = $1 and project_id = $2 for no key update
      ), changed as (
        update jobs set status = 'failed', failure_code = 'cancelled', failure_message = 'The job was cancelled.',
          pr_link = jobs.pull_request ->> 'url', ref = case when jobs.pushed then jobs.branch end,
          ended_at = clock_timestamp(), lease = null, lease_until = null, stop_asked = null, waiting_since = null,
          publication_unsure = ${mayHavePublished},
          event_seq = jobs.event_seq + 1, updated_at = clock_timestamp()
        from found where jobs.id = found.id and found.status = 'active' and not found.is_publishing
        returning jobs.*
      ), told as (
        insert into job_events (job_id, seq, kind, data)
        select id, event_seq, 'failed', jsonb_strip_nulls(jsonb_build_object(
          'prLink', pr_link, 'code', failure_code, 'message', failure_message)) from changed
      ), notified as (
        select pg_notify('${channels.jobChanged}', changed.id), pg_notify('${channels.stopAsked}', changed.id) from changed
      )
      select ${wireColumns}, false as is_publishing, (select count(*) from notified) from changed
      union all
      select ${wireColumns}, is_publishing, 0 from found where not exists (select from changed)`,
    values: [job.id, job.projectId],
  });
  deps.reader.forget(job.id);
  const row = rows[0];
  if (!row) return { kind: "unknown_job" };
  return row.is_publishing ? { kind: "publishing" } : { kind: "final", job: toWireJob(row) };
}
