import { createHmac, randomBytes } from "node:crypto";
import type { Client, Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { linkUrl } from "./links.ts";
import { hashToken } from "./session-store.ts";

const linkHours = 24;

/**
 * The link by which somebody becomes the first owner, or null once somebody is. Every node prints the same one: the
 * database holds its seed and its hash, and it takes EMEND_SECRET to derive it. `isNew` puts another in its place.
 */
export async function ensureOwnerLink(
  deps: { pool: Pool; secret: string; publicUrl: string },
  options: { isNew: boolean },
): Promise<string | null> {
  return inTransaction(deps.pool, async (client) => {
    // Nodes that start together ask one after another: none may replace what another has just printed.
    await client.query("select pg_advisory_xact_lock(hashtextextended('emend owner link', 0))");
    if (await hasOwner(client)) return null;
    if (options.isNew) await client.query("delete from login_links where purpose = 'owner'");
    const kept = await findSeed(client);
    const token = kept && deriveToken(deps.secret, kept.seed);
    // Sealed by another EMEND_SECRET, it opens for nobody who still has a key to it.
    if (token && hashToken(token).equals(kept.tokenHash)) return linkUrl(deps.publicUrl, token);
    await client.query("delete from login_links where purpose = 'owner'");
    const seed = randomBytes(32);
    const made = deriveToken(deps.secret, seed);
    await client.query(
      `insert into login_links (token_hash, lands_on, expires_at, purpose, seed)
       values ($1, '/app/start', clock_timestamp() + make_interval(hours => $2), 'owner', $3)`,
      [hashToken(made), linkHours, seed],
    );
    return linkUrl(deps.publicUrl, made);
  });
}

export async function hasOwner(db: Pick<Client, "query">): Promise<boolean> {
  return ((await db.query("select from users where role = 'owner' limit 1")).rowCount ?? 0) > 0;
}

async function findSeed(client: Client): Promise<{ seed: Buffer; tokenHash: Buffer } | null> {
  const { rows } = await client.query<{ seed: Buffer; tokenHash: Buffer }>(
    `select seed, token_hash as "tokenHash" from login_links
     where purpose = 'owner' and used_at is null and expires_at > clock_timestamp()`,
  );
  return rows[0] ?? null;
}

function deriveToken(secret: string, seed: Buffer): string {
  return createHmac("sha256", secret).update("emend owner link").update(seed).digest("base64url");
}
