import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";

/** Revokes a key, on every node within a second. Revoking it again changes nothing. */
export async function revokeKey(db: Queryable, id: string): Promise<{ kind: "revoked" } | { kind: "unknown_key" }> {
  const { rowCount } = await db.query(
    `with revoked as (
       update admin_keys set revoked_at = coalesce(revoked_at, clock_timestamp()) where id = $1 returning id
     )
     select pg_notify('${channels.keyChanged}', id) from revoked`,
    [id],
  );
  return rowCount === 0 ? { kind: "unknown_key" } : { kind: "revoked" };
}
