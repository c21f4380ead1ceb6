import { channels } from "../db/channels.ts";
import type { Client } from "../db/pool.ts";
import { type CreateKeyInput, type CreateKeyOutcome, createKey } from "./create-key.ts";
import { revokeKey } from "./revoke-key.ts";

export interface RotateKeyInput extends CreateKeyInput {
  /** How long both work: null until somebody revokes the old one, 0 not at all. */
  overlapMs: number | null;
}

/**
 * Makes a key that takes another's place. The old one works on beside it and then ends by itself: it expires sooner,
 * which every node heeds. A key that no longer works has nothing to hand over.
 */
export async function rotateKey(
  client: Client,
  oldId: string,
  input: RotateKeyInput,
): Promise<CreateKeyOutcome | { kind: "unknown_key" }> {
  const { overlapMs, ...wanted } = input;
  const { rowCount } = await client.query(
    `select 1 from admin_keys
     where id = $1 and revoked_at is null and (expires_at is null or expires_at > clock_timestamp()) for update`,
    [oldId],
  );
  if (rowCount === 0) return { kind: "unknown_key" };
  const outcome = await createKey(client, wanted);
  if (outcome.kind !== "created") return outcome;
  if (overlapMs === 0) await revokeKey(client, oldId);
  else if (overlapMs !== null) await expireKey(client, oldId, overlapMs);
  return outcome;
}

/** Never later than it would have ended anyway. */
async function expireKey(client: Client, id: string, inMs: number): Promise<void> {
  await client.query(
    `with expiring as (
       update admin_keys set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => $2))
       where id = $1 returning id
     )
     select pg_notify('${channels.keyChanged}', id) from expiring`,
    [id, inMs / 1000],
  );
}
