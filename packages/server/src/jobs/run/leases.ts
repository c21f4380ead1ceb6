import { randomUUID } from "node:crypto";
import { performance } from "node:perf_hooks";
import { channels, holderLocks } from "../../db/listener.ts";
import { type Queryable, toJsonb } from "../../db/pool.ts";

/** The right of one run to write to its job: a fencing token. The next claim gets another one. */
export interface Lease {
  jobId: string;
  token: string;
}

/**
 * A token that begins with its process: a UUID of version 8. One of version 4 names none, as in earlier releases: only
 * its time ends that lease.
 */
export function newToken(holder: number | undefined): string {
  const random = randomUUID();
  if (holder === undefined) return random;
  return `${holder.toString(16).padStart(8, "0")}${random.slice(8, 14)}8${random.slice(15)}`;
}
const holderOfLease = "case when substr(lease::text, 15, 1) = '8' then ('x' || left(lease::text, 8))::bit(32)::int end";

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
 * Changes a job that this run still owns and adds an event, in one statement: one round trip, one transaction. The row's
 * lock gives the event its sequence number. The recorder announces the change.
 */
export async function writeFenced(db: Queryable, lease: Lease, write: FencedWrite): Promise<void> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set ${write.set}, event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 and lease = $2
       returning id, event_seq
     )
     insert into job_events (job_id, seq, kind, data) select id, event_seq, $3, $4::jsonb from changed`,
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
  /** Its worker has no connection to the database. False: it has not renewed the lease in time. */
  isGone: boolean;
}

/** A process that lost its connection has this long to connect again. */
const goneMsMin = 700;
/** After a longer pause between looks nobody knows who was connected meanwhile. */
const pauseMsMax = 3_000;

/**
 * Takes the leases of lost workers away, and counts a crash for each: the process is not connected any more, or it has
 * not renewed the lease in time. Its writes are refused from now on. One node at a time looks, at most every `everyMs`.
 *
 * Only a job that ran alone in its process is blamed. The jobs are due immediately; a job that was blamed too often is
 * ended by its next claim. A job with a stored commit is never given up: from its third blamed crash on it waits longer
 * each time.
 */
export async function sweepLeases(db: Queryable, everyMs = 0): Promise<readonly SweptJob[]> {
  const { rows } = await db.query<SweptJob>(
    `with last_look as materialized (
       select case when looked_at > statement_timestamp() - make_interval(secs => ${pauseMsMax / 1000})
         then gone_since else '{}' end as gone_since
       from lost_workers where looked_at <= statement_timestamp() - make_interval(secs => $1)
       for no key update skip locked
     ), gone as materialized (
       select distinct holder::text, coalesce(gone_since ->> holder::text, statement_timestamp()::text) as since
       from last_look cross join lateral (select ${holderOfLease} as holder from jobs where lease is not null) held
       where holder is not null and holder not in (
         select objid::bigint from pg_locks
         where locktype = 'advisory' and classid = ${holderLocks} and objsubid = 2 and granted
           and database = (select oid from pg_database where datname = current_database())
       )
     ), looked as (
       update lost_workers set looked_at = statement_timestamp(),
         gone_since = (select coalesce(jsonb_object_agg(holder, since), '{}') from gone)
       from last_look
     ), lost as (
       select id, lease_until >= statement_timestamp() as is_gone from jobs
       where lease is not null and exists (select from last_look) and (
         lease_until < statement_timestamp() or (${holderOfLease})::text in (
           select holder from gone where since::timestamptz <= statement_timestamp() - make_interval(secs => ${goneMsMin / 1000})
         ))
       order by id limit 100 for no key update skip locked
     ), changed as (
       update jobs set lease = null, lease_until = null, crashes = crashes + 1,
         crashes_blamed = crashes_blamed + alone::int, alone = false,
         run_after = case when alone and commit_id is not null and crashes_blamed >= 2
           then clock_timestamp() + least(interval '5 seconds' * 2 ^ least(crashes_blamed - 2, 10), interval '10 minutes')
           else run_after end,
         phase = case when commit_id is null then 'queued' else phase end,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       from lost where jobs.id = lost.id
       returning jobs.id, project_id, event_seq, phase, crashes, is_gone
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, 'phase', jsonb_build_object('phase', phase, 'reason', 'crash', 'crashes', crashes) from changed
     )
     select id, crashes, is_gone as "isGone",
       pg_notify('${channels.jobChanged}', id), pg_notify('${channels.jobDue}', project_id)
     from changed`,
    [everyMs / 1000],
  );
  return rows.map(({ id, crashes, isGone }) => ({ id, crashes, isGone }));
}
