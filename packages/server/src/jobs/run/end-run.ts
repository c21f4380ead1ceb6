import type { FailureCode, JobPhase } from "@emend/contract";
import { channels } from "../../db/listener.ts";
import { type Pool, type Queryable, toJsonb, toText } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { continueWithInterjections } from "../start-round.ts";
import { type Lease, LeaseLost, writeFenced } from "./leases.ts";

export type Ending =
  | { kind: "completed"; summary: string; refused?: string | null }
  | { kind: "failed"; code: FailureCode; message: string };

/**
 * The only way for a run to end its job. What people said meanwhile and no step took starts the next round, in the same
 * transaction.
 */
export async function endRun(pool: Pool, lease: Lease, ending: Ending): Promise<void> {
  if (await writeEnd(pool, lease, ending, "and not has_interjections")) return;
  await inTransaction(pool, async (client) => {
    if (!(await writeEnd(client, lease, ending, ""))) throw new LeaseLost(lease.jobId);
    await continueWithInterjections(client, lease.jobId);
  });
}

/** SQL, over `jobs`: a follow-up that fails takes nothing from a job that was completed. Its failure is kept beside it. */
export const hadCompleted = "coalesce(jobs.rounds -> -1 ->> 'status' = 'completed', false)";

/** Final state, link, branch and event in one write. The branch is hidden if nothing was pushed. */
async function writeEnd(db: Queryable, lease: Lease, ending: Ending, only: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `with changed as (
       update jobs set status = case when ${hadCompleted} then 'completed' else $3 end, failure_code = $4, failure_message = $5, summary = coalesce($6, summary), refused = $7,
         pr_link = pull_request ->> 'url',
         ref = case when pushed then branch end,
         -- What was said on the pull request during the run was not listened to.
         pull_request_look_at = null,
         publication_unsure = $3 = 'failed' and pull_request is null and coalesce(create_until > clock_timestamp(), false),
         ended_at = clock_timestamp(), waiting_since = null, lease = null, lease_until = null,
         event_seq = event_seq + 1, updated_at = clock_timestamp()
       where id = $1 ${only} and lease = $2
       returning id, event_seq, status, pr_link, failure_code, failure_message, refused
     ), told as (
       insert into job_events (job_id, seq, kind, data)
       select id, event_seq, status, jsonb_strip_nulls(jsonb_build_object(
         'prLink', pr_link, 'code', failure_code, 'message', failure_message,
         'refused', case when failure_code is null then refused end)) from changed
     )
     select pg_notify('${channels.jobChanged}', id) from changed`,
    [
      lease.jobId,
      lease.token,
      ending.kind,
      ending.kind === "failed" ? ending.code : null,
      ending.kind === "failed" ? toText(ending.message) : null,
      ending.kind === "completed" ? toText(ending.summary) : null,
      ending.kind === "completed" && ending.refused ? toText(ending.refused) : null,
    ],
  );
  return rowCount === 1;
}

export interface Release {
  /**
   * released: not the job's fault. retry: a remote service was unavailable. waiting: its forge is unavailable while
   * there is work to publish, or this machine cannot write. crash: an unexpected error.
   */
  reason: "released" | "retry" | "waiting" | "crash";
  /** 0: due immediately, at the job's previous place in the queue. */
  delayMs: number;
  /** For `waiting`. Default: the forge. */
  waitsFor?: "forge" | "disk";
  /** Additional data for the phase event. */
  data?: Record<string, unknown>;
}

/**
 * SQL: no worker has the job, because its forge is unavailable. It can be stopped although it has started to publish.
 */
export const isWaiting = "(waiting_since is not null and lease is null)";

/**
 * SQL, for a row `found` that is being stopped: it was waiting with a commit to publish, and a response of its forge
 * may have been lost. The poller looks for its pull request when the forge is back.
 */
export const mayHavePublished =
  "(found.commit_id is not null and found.waiting_since is not null and found.pull_request is null)";

/** Returns a job to the queue for the next worker. A job that has started to publish stays in that phase. */
export async function releaseRun(db: Queryable, lease: Lease, release: Release): Promise<void> {
  const { rowCount } = await db.query(
    `with held as (
       select id, $3 <> 'waiting' or waiting_since is null or waiting_for <> $6 as is_told
       from jobs where id = $1 and lease = $2 for no key update
     ), changed as (
       update jobs set lease = null, lease_until = null, alone = false,
         phase = case when commit_id is null then 'queued' else phase end,
         waiting_since = case when $3 <> 'waiting' or not is_told then waiting_since else clock_timestamp() end,
         waiting_for = case when $3 = 'waiting' then $6 else waiting_for end,
         waiting_words = case when $3 = 'waiting' then $5::jsonb ->> 'message' else waiting_words end,
         run_after = case when $4::float > 0 then clock_timestamp() + make_interval(secs => $4) else run_after end,
         retries = retries + ($3 = 'retry')::int, crashes = crashes + ($3 = 'crash')::int,
         crashes_blamed = crashes_blamed + ($3 = 'crash')::int,
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
    [
      lease.jobId,
      lease.token,
      release.reason,
      release.delayMs / 1000,
      toJsonb(release.data ?? {}),
      release.waitsFor ?? "forge",
    ],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}

/** `publishing` is not here: it starts with the stored commit, in `record-change.ts`. */
export async function setPhase(db: Queryable, lease: Lease, phase: Exclude<JobPhase, "publishing">): Promise<void> {
  await writeFenced(db, lease, { set: "phase = $5", values: [phase], event: { kind: "phase", data: { phase } } });
}
