import { createHash } from "node:crypto";
import type { Adapter, AdapterPayload } from "oidc-provider";
import { channels } from "../../db/listener.ts";
import type { Pool } from "../../db/pool.ts";
import { revokeKey, splitKey } from "../keys/api-keys.ts";

/**
 * What the authorization server keeps, in Postgres, so that any node can answer the next request. Nothing in it opens
 * anything: ids are stored as hashes, so EMEND_SECRET is not involved. A record of a revoked key is not found.
 */
export function createOauthRecords(
  pool: Pool,
  /** The error for a code or token that was used before, also by a request that is answered right now. */
  usedBefore: () => Error,
): (model: string) => Adapter {
  return (model) => {
    // The dashboard's session is the only login: the library's own is never remembered.
    if (model === "Session" || model === "Client") return forgetful;
    const rowOf = (id: string) => rowIdOf(model, id);
    return {
      ...forgetful,
      async upsert(id, payload, expiresInSeconds) {
        // It is the secret itself.
        const { jti: _, ...kept } = payload;
        const keyId = model === "Grant" ? id : (payload.grantId ?? null);
        const { id: rowId, secretHash } = rowOf(id);
        await pool.query(
          `insert into oauth_records (id, model, key_id, secret_hash, payload, expires_at)
           values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6))
           on conflict (id) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
          [rowId, model, keyId, secretHash, JSON.stringify(kept), expiresInSeconds],
        );
      },
      async find(id) {
        const { id: rowId, secretHash } = rowOf(id);
        const { rows } = await pool.query<{ payload: AdapterPayload; consumed: number | null }>(
          `select payload, extract(epoch from consumed_at)::int as consumed
           from oauth_records records left join admin_keys keys on keys.id = records.key_id
           where records.id = $1 and model = $2 and records.secret_hash is not distinct from $3
             and records.expires_at > clock_timestamp()
             and keys.revoked_at is null and coalesce(keys.expires_at > clock_timestamp(), true)`,
          [rowId, model, secretHash],
        );
        const [row] = rows;
        return row && { ...row.payload, jti: id, ...(row.consumed !== null && { consumed: row.consumed }) };
      },
      async consume(id) {
        // Somebody may have copied it: the connection ends, also for a request that wins at the same moment.
        const { rows } = await pool.query<{ isFirst: boolean }>(
          `with consumed as (
             update oauth_records set consumed_at = clock_timestamp() where id = $1 and consumed_at is null returning id
           ), revoked as (
             update admin_keys set revoked_at = clock_timestamp()
             where id = (select key_id from oauth_records where id = $1) and revoked_at is null
               and not exists (select from consumed)
             returning pg_notify('${channels.keyChanged}', id)
           )
           select exists (select from consumed) as "isFirst", (select count(*) from revoked) as revoked`,
          [rowOf(id).id],
        );
        if (!rows[0]?.isFirst) throw usedBefore();
      },
      async destroy(id) {
        if (model === "Grant") await revokeKey(pool, id);
        else await pool.query("delete from oauth_records where id = $1", [rowOf(id).id]);
      },
      async revokeByGrantId(keyId) {
        await pool.query("delete from oauth_records where key_id = $1 and model = $2", [keyId, model]);
      },
    };
  };
}

/** An access token has a key's form, and is found as one: see `keyring.ts`. */
function rowIdOf(model: string, id: string): { id: string; secretHash: Buffer | null } {
  const parts = model === "AccessToken" ? splitKey(id) : null;
  if (parts) return { id: parts.id, secretHash: createHash("sha256").update(parts.secret).digest() };
  return { id: createHash("sha256").update(`${model} ${id}`).digest("base64url"), secretHash: null };
}

const nothing = async () => undefined;
const forgetful: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUid: nothing,
  findByUserCode: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};
