import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";

export interface Revocation {
  kind: "revoked" | "revoked_before" | "unknown_key";
}

/** Revokes a key, on every node within a second. Revoking it again changes nothing. */
export async function revokeKey(db: Queryable, id: string): Promise<Revocation> {
  const { rows } = await db.query<Revocation>(
    `with found as (
       select id, revoked_at from admin_keys where id = $1 for update
     ), revoked as (
       update admin_keys set revoked_at = clock_timestamp() from found
       where admin_keys.id = found.id and found.revoked_at is null
       returning admin_keys.id
     )
     select case when exists (select from revoked) then 'revoked' else 'revoked_before' end as kind,
            pg_notify('${channels.keyChanged}', id)
     from found`,
    [id],
  );
  return { kind: rows[0]?.kind ?? "unknown_key" };
}
