import type { Queryable } from "../db/pool.ts";
import { deleteSession, hashToken, newToken, sessionSeconds } from "./session-store.ts";

interface NewSession {
  /** Null: the console's, by one of its links. */
  userId: string | null;
  how: "password" | "link" | "single sign-on";
  /** The session that the browser had: one that was planted there must not become a logged-in one. */
  replaces: string | null;
}

/** Opens a session and returns its token. To be called in the transaction that found the right to it. */
export async function openSession(db: Queryable, input: NewSession): Promise<string> {
  if (input.replaces !== null) await deleteSession(db, input.replaces);
  const token = newToken();
  await db.query(
    `with opened as (
       insert into sessions (token_hash, subject, user_id, expires_at)
       values ($1, 'console', $2, clock_timestamp() + make_interval(secs => $3))
     ), seen as (update users set last_login_at = clock_timestamp() where id = $2)
     select audit('login', $2, jsonb_build_object('by', $4::text), 'console')`,
    [hashToken(token), input.userId, sessionSeconds, input.how],
  );
  return token;
}
