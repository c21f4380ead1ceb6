import { channels } from "../db/listener.ts";
import type { Queryable } from "../db/pool.ts";

/** Archives jobs that ended long ago, as a person would. Links stay. */
export async function archiveByRetention(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(500, (rowsMax) =>
    db.query(
      `with old as (
         select id from jobs where status in ('completed', 'failed') and ended_at < now() - make_interval(days => $1)
         order by ended_at limit $2 for no key update skip locked
       ), changed as (
         update jobs set status = 'archived', archived_at = clock_timestamp(),
           event_seq = event_seq + 1, updated_at = clock_timestamp()
         from old where jobs.id = old.id
         returning jobs.id, event_seq
       ), told as (
         insert into job_events (job_id, seq, kind, data)
         select id, event_seq, 'archived', '{"reason": "retention"}' from changed
       )
       select pg_notify('${channels.jobChanged}', id) from changed`,
      [afterDays, rowsMax],
    ),
  );
}

/**
 * Deletes jobs that ended long ago, with all that belongs to them and their part of the usage figures. Those with an open
 * pull request stay, and so does the audit log.
 */
export async function deleteByRetention(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(100, (rowsMax) =>
    db.query(
      `with old as (
         select id from jobs where status <> 'active' and ended_at < now() - make_interval(days => $1)
           and pull_request ->> 'state' is distinct from 'open'
         order by ended_at limit $2 for update skip locked
       ), gone as (
         delete from jobs using old where jobs.id = old.id returning jobs.id
       )
       select pg_notify('${channels.jobChanged}', id) from gone`,
      [afterDays, rowsMax],
    ),
  );
}

/** Deletes what only a run needs, long after the job has ended. The diff, the usage and the events stay. */
export async function dropRunContents(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(100, (rowsMax) =>
    db.query(
      `with done as (
         select id from jobs
         where ended_at < now() - make_interval(days => $1) and contents_dropped_at is null and status <> 'active'
         order by ended_at limit $2 for no key update skip locked
       ), emptied as (
         update steps set messages = '[]' from done where steps.job_id = done.id
       ), dropped as (
         delete from overlay using done where overlay.job_id = done.id
       ), seen as (
         delete from uploads using done where uploads.job_id = done.id
       )
       update jobs set contents_dropped_at = clock_timestamp() from done where jobs.id = done.id`,
      [afterDays, rowsMax],
    ),
  );
}

/** Of pages, once nobody reviews the pull request that shows them. */
export async function dropPagePictures(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(100, (rowsMax) =>
    db.query(
      `delete from page_pictures where ctid in (
         select shown.ctid from page_pictures shown join jobs on jobs.id = shown.job_id
         where ended_at < now() - make_interval(days => $1) and status <> 'active'
           and pull_request ->> 'state' is distinct from 'open' limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}

/**
 * Deletes an automation's old history. Waiting runs stay, and so do runs that made a job: they record what people
 * closed.
 */
export async function dropAutomationRuns(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from automation_runs where id in (
         select id from automation_runs
         where settled_at < now() - make_interval(days => $1) and state in ('merged', 'skipped') limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}

/** Tasks that were given up, and that nobody ran again. */
export async function dropGivenUpTasks(db: Queryable, afterDays: number): Promise<number> {
  const { rowCount } = await db.query(
    "delete from tasks where due_at = 'infinity' and problem is not null and waiting_since < now() - make_interval(days => $1)",
    [afterDays],
  );
  return rowCount ?? 0;
}

/** Deletes old deliveries. Pending ones stay. */
export async function dropDeliveries(db: Queryable, afterDays: number): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from deliveries where id in (
         select id from deliveries
         where created_at < now() - make_interval(days => $1) and state <> 'pending' order by created_at limit $2)`,
      [afterDays, rowsMax],
    ),
  );
}

/** Chats deliver an event again for some hours. Messages that wait stay. */
export async function dropChatMessages(db: Queryable): Promise<number> {
  return inBatches(1000, (rowsMax) =>
    db.query(
      `delete from chat_messages where id in (
         select id from chat_messages
         where received_at < now() - interval '7 days' and handled_at is not null order by received_at limit $1)`,
      [rowsMax],
    ),
  );
}

/** Of uploads that no prompt names. */
export async function dropUploads(db: Queryable): Promise<number> {
  return inBatches(100, (rowsMax) =>
    db.query(
      `delete from uploads where id in (
         select id from uploads where job_id is null and created_at < now() - interval '1 day' limit $1
         for update skip locked)`,
      [rowsMax],
    ),
  );
}

/**
 * Deletes expired links, sessions and OAuth records a day later, and attempts to log in that no longer count. Revokes
 * connections of programs that did not renew their tokens.
 */
export async function dropExpiredSessions(db: Queryable): Promise<number> {
  await db.query(
    `update admin_keys set revoked_at = now()
     where client_id is not null and revoked_at is null and created_at < now() - interval '1 day'
       and not exists (select from oauth_records where key_id = admin_keys.id
         and model in ('AccessToken', 'RefreshToken') and expires_at > now())`,
  );
  await db.query("delete from oauth_records where expires_at < now() - interval '1 day'");
  const links = await db.query("delete from login_links where expires_at < now() - interval '1 day'");
  await db.query("delete from pending_logins where expires_at < now()");
  await db.query("delete from passkey_challenges where expires_at < now()");
  await db.query("delete from saml_logins where expires_at < now()");
  await db.query("delete from login_attempts where at < now() - interval '1 hour'");
  const sessions = await db.query("delete from sessions where expires_at < now() - interval '1 day'");
  return (links.rowCount ?? 0) + (sessions.rowCount ?? 0);
}

/**
 * Idempotency keys are valid for 24 hours. `create_job` checks their age itself, so a late deletion changes nothing.
 */
export async function dropIdempotencyKeys(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from idempotency_keys where (project_id, key) in (
         select project_id, key from idempotency_keys where created_at < now() - interval '25 hours'
         order by created_at limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}

/** Of pull requests that nobody has pushed to or judged for this long. */
export async function dropGateStatuses(db: Queryable, afterDays: number): Promise<number> {
  const old = "updated_at < now() - make_interval(days => $1)";
  const { rowCount } = await db.query(`delete from gate_statuses where ${old}`, [afterDays]);
  const local = await db.query(`delete from local_statuses where ${old}`, [afterDays]);
  // The answers that the statuses rest on. Asked again, they only cost.
  const answers = await db.query("delete from drift_answers where created_at < now() - make_interval(days => $1)", [
    afterDays,
  ]);
  // What still waits after this long may be shown again.
  await db.query("delete from inbox_dismissals where dismissed_at < now() - make_interval(days => $1)", [afterDays]);
  return (rowCount ?? 0) + (local.rowCount ?? 0) + (answers.rowCount ?? 0);
}

/** Deletes old logins. The rest of the audit log stays. */
export async function dropOldLogins(db: Queryable, afterDays: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from audit_log where action in ('login', 'login.failed', 'login_link.created')
       and at < now() - make_interval(days => $1)`,
    [afterDays],
  );
  return rowCount ?? 0;
}

/** Deletes old quota uses. One window more is kept, so that a clock change frees nothing. */
export async function dropQuotaUses(db: Queryable): Promise<number> {
  return inBatches(2_000, (rowsMax) =>
    db.query(
      `delete from quota_uses where ctid in (
         select ctid from quota_uses where used_at < now() - interval '2 hours' limit $1 for update skip locked)`,
      [rowsMax],
    ),
  );
}

/** Repeats a bounded statement until little is left: many short transactions instead of a long one. */
export async function inBatches(
  rowsMax: number,
  change: (rowsMax: number) => Promise<{ rowCount: number | null }>,
): Promise<number> {
  for (let total = 0; ; ) {
    const { rowCount } = await change(rowsMax);
    total += rowCount ?? 0;
    if ((rowCount ?? 0) < rowsMax) return total;
  }
}
