import type { Queryable } from "../../db/pool.ts";

interface Factors {
  /** Since when there is an authenticator app. Null: there is none. */
  appSince: string | null;
  recoveryCodesLeft: number;
}

/** For the account page. */
export async function listFactors(db: Queryable, userId: string): Promise<Factors> {
  const { rows } = await db.query<{ since: Date | null; left: number }>(
    `select (select created_at from authenticator_apps where user_id = $1) as since,
       (select count(*)::int from recovery_codes where user_id = $1) as left`,
    [userId],
  );
  const [row] = rows;
  return { appSince: row?.since?.toISOString() ?? null, recoveryCodesLeft: row?.left ?? 0 };
}
