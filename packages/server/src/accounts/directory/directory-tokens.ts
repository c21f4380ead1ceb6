import { hash, timingSafeEqual } from "node:crypto";
import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { isKey, newKey, splitKey } from "../keys/api-keys.ts";

/** A token for `/scim/v2`, in lists. */
export interface DirectoryToken {
  id: string;
  /** The first characters, to recognize it. */
  hint: string;
  name: string;
  createdBy: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

/** The token is shown once: only its hash is stored. It has the form of an API key, which secret scanners know. */
export async function createDirectoryToken(
  pool: Pool,
  input: { name: string },
  actor: Actor,
): Promise<{ id: string; token: string }> {
  const name = input.name.trim();
  if (name === "" || name.length > 200 || /\p{Cc}/u.test(name)) {
    throw new AppError("invalid_request", {
      publicMessage: "A token's name must have 1 to 200 characters on one line.",
    });
  }
  const key = newKey();
  await inTransactionAs(pool, actor, async (client) => {
    await client.query(
      "insert into directory_tokens (id, secret_hash, hint, name, created_by) values ($1, $2, $3, $4, $5)",
      [key.id, hash("sha256", key.secret, "buffer"), key.hint, name, actor.name],
    );
    await client.query("select audit('directory_token.created', $1, jsonb_build_object('name', $2::text))", [
      key.id,
      name,
    ]);
  });
  return { id: key.id, token: key.text };
}

export async function listDirectoryTokens(db: Queryable): Promise<readonly DirectoryToken[]> {
  const { rows } = await db.query<DirectoryToken>(
    `select id, hint, name, created_by as "createdBy", created_at as "createdAt", last_used_at as "lastUsedAt",
       revoked_at as "revokedAt"
     from directory_tokens order by created_at desc, id limit 1000`,
  );
  return rows;
}

/** False if there is no such token. Idempotent. */
export async function revokeDirectoryToken(pool: Pool, id: string, actor: Actor): Promise<boolean> {
  return inTransactionAs(pool, actor, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "update directory_tokens set revoked_at = clock_timestamp() where id = $1 and revoked_at is null returning name",
      [id],
    );
    if (rows[0]) {
      await client.query("select audit('directory_token.revoked', $1, jsonb_build_object('name', $2::text))", [
        id,
        rows[0].name,
      ]);
      return true;
    }
    return (await client.query("select from directory_tokens where id = $1", [id])).rowCount === 1;
  });
}

/** The id and name of a valid token, or null. Read with every request, so that a revoked one ends on every node. */
export async function findDirectoryToken(db: Queryable, text: string): Promise<{ id: string; name: string } | null> {
  const parts = splitKey(text);
  if (parts === null || !isKey(parts)) return null;
  const { rows } = await db.query<{ id: string; name: string; secretHash: Buffer }>(
    `with touched as (
       update directory_tokens set last_used_at = clock_timestamp()
       where id = $1 and revoked_at is null and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
         and secret_hash = $2
     )
     select id, name, secret_hash as "secretHash" from directory_tokens where id = $1 and revoked_at is null`,
    [parts.id, hash("sha256", parts.secret, "buffer")],
  );
  const row = rows[0];
  if (!row || !timingSafeEqual(row.secretHash, hash("sha256", parts.secret, "buffer"))) return null;
  return { id: row.id, name: row.name };
}
