import type { Queryable } from "../../db/pool.ts";

interface Factors {
  /** Since when there is an authenticator app. Null: there is none. */
  appSince: string | null;
  passkeys: readonly { id: string; name: string; createdAt: string; lastUsedAt: string | null }[];
  recoveryCodesLeft: number;
}

/** The person's second factors, passkeys by age. */
export async function listFactors(db: Queryable, userId: string): Promise<Factors> {
  const { rows } = await db.query<Factors>(
    `select (select wire_time(created_at) from authenticator_apps where user_id = $1) as "appSince",
       (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'createdAt', wire_time(created_at),
          'lastUsedAt', wire_time(last_used_at)) order by created_at), '[]')
        from passkeys where user_id = $1) as passkeys,
       (select count(*)::int from recovery_codes where user_id = $1) as "recoveryCodesLeft"`,
    [userId],
  );
  return rows[0] as Factors;
}
