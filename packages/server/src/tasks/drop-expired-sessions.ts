import type { Queryable } from "../db/pool.ts";

/** Expired links and sessions open nothing any more; a day later they are of no use in finding out what happened. */
export async function dropExpiredSessions(db: Queryable): Promise<number> {
  const links = await db.query("delete from login_links where expires_at < now() - interval '1 day'");
  const sessions = await db.query("delete from sessions where expires_at < now() - interval '1 day'");
  return (links.rowCount ?? 0) + (sessions.rowCount ?? 0);
}
