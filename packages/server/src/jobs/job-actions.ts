import type { FailureCode } from "@emend/contract";
import { channels } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import type { JobReader } from "./read/job-reader.ts";
import { hadCompleted, isWaiting, mayHavePublished } from "./run/end-run.ts";
import { isJobId, toWireJob, type WireJob, type WireRow, wireColumns } from "./wire-job.ts";

export type JobActionOutcome =
  /** The job is in the requested state, now or already before. */
  | { kind: "done"; job: WireJob }
  | { kind: "unknown_job" }
  /** Too late: its pull request may already exist. Nothing was changed. */
  | { kind: "publishing" }
  /** Why the action cannot help or is no longer possible. */
  | { kind: "refused"; because: "completed" | "archived" | "needs_follow_up" | "contents_dropped" | PublishRefusal };

type PublishRefusal = "not_a_preview" | "preview_failed" | "preview_active" | "preview_unchanged";

/** Ends an active job. The same write removes its lease, so its run can store and publish nothing more. */
export async function cancelJob(
  deps: { pool: Pool; reader: JobReader },
  job: { id: string; projectId: string },
  /** Who asked for it: `user/…` or `key/…`. */
  by: string,
): Promise<JobActionOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const { rows } = await deps.pool.query<WireRow & { is_publishing: boolean }>({
    name: "cancel-job",
    text: `
      with found as (
        select *, status = 'active' and (phase = 'publishing' or commit_id is not null) and not ${isWaiting} as is_publishing
        from jobs where id = $1 and project_id = $2 for no key update
      ), changed as (
        update jobs set status = case when ${hadCompleted} then 'completed' else 'failed' end, failure_code = 'cancelled',
          failure_message = 'The job was cancelled.',
          cancelled_by = $3, pr_link = jobs.pull_request ->> 'url', ref = case when jobs.pushed then jobs.branch end,
          ended_at = clock_timestamp(), lease = null, lease_until = null, waiting_since = null,
          publication_unsure = ${mayHavePublished},
          event_seq = jobs.event_seq + 1, updated_at = clock_timestamp()
        from found where jobs.id = found.id and found.status = 'active' and not found.is_publishing
        returning jobs.*
      ), told as (
        insert into job_events (job_id, seq, kind, data)
        select id, event_seq, status, jsonb_strip_nulls(jsonb_build_object(
          'prLink', pr_link, 'code', failure_code, 'message', failure_message)) from changed
      ), notified as (
        select pg_notify('${channels.jobChanged}', changed.id), pg_notify('${channels.stopAsked}', changed.id) from changed
      )
      select ${wireColumns}, false as is_publishing, (select count(*) from notified) from changed
      union all
      select ${wireColumns}, is_publishing, 0 from found where not exists (select from changed)`,
    values: [job.id, job.projectId, by],
  });
  deps.reader.forget(job.id);
  const row = rows[0];
  if (!row) return { kind: "unknown_job" };
  return row.is_publishing ? { kind: "publishing" } : { kind: "done", job: toWireJob(row) };
}

const pollEveryMs = 1_000;

/**
 * Archives a job. For an active one, the same write removes its lease. If it is being published, this waits for the
 * outcome, because its pull request may already exist.
 */
export async function archiveJob(
  deps: { pool: Pool; reader: JobReader },
  job: { id: string; projectId: string },
  options: { waitMs: number; signal: AbortSignal },
): Promise<JobActionOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const untilMs = performance.now() + options.waitMs;
  for (;;) {
    const outcome = await archiveUnlessPublishing(deps.pool, job);
    deps.reader.forget(job.id);
    if (outcome.kind !== "publishing" || options.signal.aborted || performance.now() >= untilMs) return outcome;
    // Polled, because a job that goes back to waiting for its forge can be archived immediately.
    const lookMs = Math.min(untilMs, performance.now() + pollEveryMs);
    await deps.reader.readUntil(job.id, (found) => !found?.isActive, { untilMs: lookMs, signal: options.signal });
  }
}

async function archiveUnlessPublishing(pool: Pool, job: { id: string; projectId: string }): Promise<JobActionOutcome> {
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
          lease = null, lease_until = null, waiting_since = null,
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
  return row.is_publishing ? { kind: "publishing" } : { kind: "done", job: toWireJob(row) };
}

/** Failures that may be temporary or fixed by now. Any other failed job needs another instruction. */
const retryableCodes: readonly FailureCode[] = [
  "internal",
  "model_unavailable",
  "forge_unavailable",
  "forge_rejected",
  "repository_unavailable",
];
/** SQL: its commit is stored but not published, so it only needs publishing. */
const isUnpublished = "(commit_id is not null and failure_code is distinct from limit_reached)";

/** SQL, over `jobs`: a retry can continue from what the job has stored. */
export const isRetryable = `(status in ('failed', 'completed') and failure_code is not null and contents_dropped_at is null
  and (failure_code in (${retryableCodes.map((code) => `'${code}'`).join(", ")}) or ${isUnpublished}))`;

/**
 * Restarts a failed job where it stopped: one with a stored commit is published without a model, any other continues
 * from its stored steps. Of concurrent callers, one starts it and the others find it active.
 */
export async function retryJob(
  deps: { pool: Pool; reader: JobReader },
  job: { id: string; projectId: string },
): Promise<JobActionOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const { rows } = await deps.pool.query<WireRow & { is_dropped: boolean; has_failed: boolean }>({
    name: "retry-job",
    text: `
      with found as (
        select *, ${isRetryable} as is_retryable, contents_dropped_at is not null as is_dropped, failure_code is not null as has_failed
        from jobs where id = $1 and project_id = $2 for no key update
      ), changed as (
        update jobs set status = 'active', ref = jobs.branch,
          phase = case when jobs.commit_id is null then 'queued' else 'publishing' end,
          failure_code = null, failure_message = null, ended_at = null, waiting_since = null,
          publication_unsure = false,
          crashes = 0, crashes_blamed = 0, retries = 0, run_after = greatest(clock_timestamp(), jobs.editing_until),
          event_seq = jobs.event_seq + 1, updated_at = clock_timestamp()
        from found where jobs.id = found.id and found.is_retryable
        returning jobs.*
      ), told as (
        insert into job_events (job_id, seq, kind, data)
        select id, event_seq, 'phase', jsonb_build_object('phase', phase, 'reason', 'asked') from changed
      ), notified as (
        select pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id) from changed
      )
      select ${wireColumns}, false as is_dropped, false as has_failed, (select count(*) from notified) from changed
      union all
      select ${wireColumns}, is_dropped, has_failed, 0 from found where not exists (select from changed)`,
    values: [job.id, job.projectId],
  });
  deps.reader.forget(job.id);
  const [row] = rows;
  if (!row) return { kind: "unknown_job" };
  if (row.status === "active") return { kind: "done", job: toWireJob(row) };
  if (row.status !== "failed" && !(row.status === "completed" && row.has_failed))
    return { kind: "refused", because: row.status };
  return { kind: "refused", because: row.is_dropped ? "contents_dropped" : "needs_follow_up" };
}

/**
 * Has a completed preview published: its stored change, without a model. Of concurrent callers, one starts it and the
 * others find it active.
 */
export async function publishPreview(
  deps: { pool: Pool; reader: JobReader },
  job: { id: string; projectId: string },
): Promise<JobActionOutcome> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const { rows } = await deps.pool.query<WireRow & PreviewState>({
    name: "publish-preview",
    text: `
      with found as (
        select *, contents_dropped_at is not null as is_dropped, exists (select from overlay where job_id = jobs.id) as has_changes
        from jobs where id = $1 and project_id = $2 for no key update
      ), changed as (
        update jobs set status = 'active', phase = 'queued', ref = jobs.branch, preview = false, publishes_preview = true,
          ended_at = null, crashes = 0, crashes_blamed = 0, retries = 0, run_after = clock_timestamp(),
          event_seq = jobs.event_seq + 1, updated_at = clock_timestamp()
        from found where jobs.id = found.id and found.status = 'completed' and found.preview and found.failure_code is null
          and not found.is_dropped and found.has_changes
        returning jobs.*
      ), told as (
        insert into job_events (job_id, seq, kind, data)
        select id, event_seq, 'phase', jsonb_build_object('phase', phase, 'reason', 'asked') from changed
      ), notified as (
        select pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id) from changed
      )
      select ${wireColumns}, preview, publishes_preview, false as is_dropped, (select count(*) from notified) from changed
      union all
      select ${wireColumns}, preview, publishes_preview, is_dropped, 0 from found where not exists (select from changed)`,
    values: [job.id, job.projectId],
  });
  deps.reader.forget(job.id);
  const [row] = rows;
  if (!row) return { kind: "unknown_job" };
  if (row.publishes_preview && row.status !== "failed" && row.status !== "archived") {
    return { kind: "done", job: toWireJob(row) };
  }
  return { kind: "refused", because: publishRefusal(row) };
}

interface PreviewState {
  preview: boolean;
  publishes_preview: boolean;
  is_dropped: boolean;
}

function publishRefusal(row: WireRow & PreviewState): Extract<JobActionOutcome, { kind: "refused" }>["because"] {
  if (row.status === "archived") return "archived";
  if (!row.preview && !row.publishes_preview) return "not_a_preview";
  if (row.status === "active") return "preview_active";
  if (row.status === "failed") return "preview_failed";
  return row.is_dropped ? "contents_dropped" : "preview_unchanged";
}
