import { channels } from "../db/channels.ts";
import type { Pool } from "../db/pool.ts";
import { isJobId } from "./job-id.ts";
import type { JobReader } from "./job-reader.ts";
import { isWaiting, mayHavePublished } from "./release-run.ts";
import { toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

export type ArchiveOutcome =
  | { kind: "archived"; job: WireJob }
  | { kind: "unknown_job" }
  /** Its outcome is not known yet, and nothing was changed. */
  | { kind: "publishing" };

const lookEveryMs = 1_000;

/**
 * Archives a job. An active one loses its lease in the same write, so its run can store and publish nothing more. One
 * that is being published is waited for, since its pull request may exist already.
 */
export async function archiveJob(
  deps: { pool: Pool; reader: JobReader },
  job: { id: string; projectId: string },
  options: { waitMs: number; signal: AbortSignal },
): Promise<ArchiveOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const untilMs = performance.now() + options.waitMs;
  for (;;) {
    const outcome = await archiveUnlessPublishing(deps.pool, job);
    deps.reader.forget(job.id);
    if (outcome.kind !== "publishing" || options.signal.aborted || performance.now() >= untilMs) return outcome;
    // Looked at again and again, since a job that goes back to waiting for its forge can be archived at once.
    const lookMs = Math.min(untilMs, performance.now() + lookEveryMs);
    await deps.reader.readUntil(job.id, (found) => !found?.isActive, { untilMs: lookMs, signal: options.signal });
  }
}

async function archiveUnlessPublishing(pool: Pool, job: { id: string; projectId: string }): Promise<ArchiveOutcome> {
  const { rows } = await pool.query<WireRow & { is_publishing: boolean }>({
    name: "archive-job",
    text: `
      with found as (
        select *, status = 'active' and (phase = 'publishing' or commit_id is not null) and not ${isWaiting} as is_publishing
        from jobs where id = $1 and project_id = $2 for no key update
      ), changed as (
        update jobs set status = 'archived', archived_at = clock_timestamp(),
          ended_at = coalesce(jobs.ended_at, clock_timestamp()),
          ref = case when jobs.pushed then jobs.ref end,
          lease = null, lease_until = null, stop_asked = null, waiting_since = null,
          publication_unsure = jobs.publication_unsure or ${mayHavePublished},
          event_seq = jobs.event_seq + 1, updated_at = clock_timestamp()
        from found where jobs.id = found.id and found.status <> 'archived' and not found.is_publishing
        returning jobs.*
      ), told as (
        insert into job_events (job_id, seq, kind, data) select id, event_seq, 'archived', '{}' from changed
      ), notified as (
        select pg_notify('${channels.jobChanged}', changed.id), pg_notify('${channels.stopAsked}', changed.id) from changed
      )
      select ${wireColumns}, false as is_publishing, (select count(*) from notified) from changed
      union all
      select ${wireColumns}, is_publishing, 0 from found where not exists (select from changed)`,
    values: [job.id, job.projectId],
  });
  const row = rows[0];
  if (!row) return { kind: "unknown_job" };
  return row.is_publishing ? { kind: "publishing" } : { kind: "archived", job: toWireJob(row) };
}
