import type { Queryable } from "../db/pool.ts";

const loginsKeptDays = 90;

/** Attempts count for minutes, and logins are of interest for a while; what was changed stays in the audit log. */
export async function dropOldLogins(db: Queryable): Promise<number> {
  await db.query("delete from login_attempts where at < now() - interval '1 hour'");
  const { rowCount } = await db.query(
    `delete from audit_log where action in ('login', 'login.failed', 'login_link.created')
       and at < now() - make_interval(days => $1)`,
    [loginsKeptDays],
  );
  return rowCount ?? 0;
}
