import { type Actor, inTransactionAs } from "../db/acting.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import type { LoginWay } from "./open-session.ts";
import { hashToken } from "./session-store.ts";

/** A browser in which somebody is logged in. */
interface OwnSession {
  startedAt: Date;
  expiresAt: Date;
  /** How and from where; null where an earlier release opened it and did not write it down. */
  by: LoginWay | null;
  address: string | null;
  isThis: boolean;
}

/** Whose sessions: the person's, or the console's, and the browser that asks. */
export interface Holder {
  /** Null: the console's. */
  userId: string | null;
  token: string;
}

/** Those that still work: this browser's, then the newest first. */
export async function listOwnSessions(db: Queryable, { userId, token }: Holder): Promise<readonly OwnSession[]> {
  const { rows } = await db.query<OwnSession>(
    `select created_at as "startedAt", expires_at as "expiresAt", opened_by as by, opened_from as address,
       token_hash = $2 as "isThis"
     from sessions where user_id is not distinct from $1 and expires_at > clock_timestamp()
     order by "isThis" desc, created_at desc limit 100`,
    [userId, hashToken(token)],
  );
  return rows;
}

/** Logs every other browser out, and says how many those were. */
export async function endOtherSessions(pool: Pool, { userId, token }: Holder, actor: Actor): Promise<number> {
  return inTransactionAs(pool, actor, async (client) => {
    const { rowCount } = await client.query(
      "delete from sessions where user_id is not distinct from $1 and token_hash <> $2",
      [userId, hashToken(token)],
    );
    const ended = rowCount ?? 0;
    if (ended > 0) {
      await client.query("select audit('sessions.ended', $1, jsonb_build_object('ended', $2::int))", [userId, ended]);
    }
    return ended;
  });
}
