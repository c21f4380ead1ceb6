import type { Queryable } from "../db/pool.ts";
import { deleteSession, hashToken, newToken, sessionSeconds } from "./session-store.ts";

export type LoginWay = "password" | "link" | "single sign-on";

interface NewSession {
  /** Null: the console's, by one of its links. */
  userId: string | null;
  how: LoginWay;
  /** Where the browser is; null where that is not known. */
  address: string | null;
  /** The session that the browser had: one that was planted there must not become a logged-in one. */
  replaces: string | null;
}

/** Opens a session and returns its token. To be called in the transaction that found the right to it. */
export async function openSession(db: Queryable, input: NewSession): Promise<string> {
  if (input.replaces !== null) await deleteSession(db, input.replaces);
  const token = newToken();
  await db.query(
    `with opened as (
       insert into sessions (token_hash, subject, user_id, expires_at, opened_by, opened_from)
       values ($1, 'console', $2, clock_timestamp() + make_interval(secs => $3), $4, $5)
     ), seen as (update users set last_login_at = clock_timestamp() where id = $2)
     select audit('login', $2, jsonb_build_object('by', $4::text), 'console')`,
    [hashToken(token), input.userId, sessionSeconds, input.how, input.address],
  );
  return token;
}
