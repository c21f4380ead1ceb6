import { performance } from "node:perf_hooks";
import { channels } from "../../db/listener.ts";
import { type Queryable, toJsonb } from "../../db/pool.ts";

/** The right of one run to write to its job: a fencing token. The next claim gets another one. */
export interface Lease {
  jobId: string;
  token: string;
}

/** A fenced write found another owner, or none: this run is over and must change and publish nothing more. */
export class LeaseLost extends Error {
  constructor(jobId: string) {
    super(`the lease of ${jobId} is lost`);
    this.name = "LeaseLost";
  }
}

/** Events of a run. `jobs/create-job.ts` writes `job.created`. */
type RunEventKind = "phase" | "step" | "findings" | "pull_request";

interface FencedWrite {
  /** Assignments on the jobs row; `values` are $5 and up. */
  set: string;
  values: readonly unknown[];
  event: { kind: RunEventKind; data: unknown };
}

/**
 * Changes a job that this run still owns, adds an event and notifies waiting readers, all in one statement: one round
 * trip, one transaction. The row's lock gives the event its sequence number.
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

/**
 * Renews all leases of a process. An expired lease that nobody has swept is renewed too: nobody else owns the job.
 * Locked rows are skipped until next time, so that one slow transaction does not cost other leases. Returns the tokens that
 * no longer own their job: it was cancelled or archived, or another worker has it.
 */
export async function renewLeases(db: Queryable, leases: readonly Lease[], leaseMs: number): Promise<string[]> {
  const ids = leases.map((lease) => lease.jobId);
  const tokens = leases.map((lease) => lease.token);
  const { rows } = await db.query<{ token: string }>(
    `with mine as (
       select * from unnest($1::text[], $2::uuid[]) as mine (id, token)
     ), free as (
       select jobs.id from jobs join mine on jobs.id = mine.id and lease = token
       for no key update of jobs skip locked
     ), renewed as (
       update jobs set lease_until = clock_timestamp() + make_interval(secs => $3) from free where jobs.id = free.id
     )
     select token from jobs join mine on jobs.id = mine.id and lease = token`,
    [ids, tokens, leaseMs / 1000],
  );
  const held = new Set(rows.map((row) => row.token));
  return tokens.filter((token) => !held.has(token));
}

const sendMsMax = 5_000;

/**
 * The last check before an external effect. Renews the lease, and returns until when (monotonic clock) the request may be
 * sent. Counted from before the renewal, so that a process that froze in between is too late.
 */
export async function renewForEffect(db: Queryable, lease: Lease, leaseMs: number): Promise<{ sendBeforeMs: number }> {
  const sendBeforeMs = performance.now() + Math.min(sendMsMax, leaseMs / 4);
  const { rowCount } = await db.query(
    "update jobs set lease_until = clock_timestamp() + make_interval(secs => $3) where id = $1 and lease = $2",
    [lease.jobId, lease.token, leaseMs / 1000],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
  return { sendBeforeMs };
}

interface SweptJob {
  id: string;
  crashes: number;
}

/**
 * Removes expired leases and counts a crash for each: the worker is gone, or its writes will be refused. Only a job
 * that ran alone in its process is blamed. The jobs are due immediately; a job that was blamed too often is ended by
 * its next claim. A job with a stored commit is never given up: from its third blamed crash on it waits longer each
 * time.
 */
export async function sweepLeases(db: Queryable): Promise<readonly SweptJob[]> {
  const { rows } = await db.query<SweptJob>(
    `with expired as (
       select id from jobs where lease is not null and lease_until < statement_timestamp()
       order by id limit 100 for no key update skip locked
     ), changed as (
       update jobs set lease = null, lease_until = null, crashes = crashes + 1,
         crashes_blamed = crashes_blamed + alone::int, alone = false,
         run_after = case when alone and commit_id is not null and crashes_blamed >= 2
           then clock_timestamp() + least(interval '5 seconds' * 2 ^ least(crashes_blamed - 2, 10), interval '10 minutes')
           else run_after end,
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
