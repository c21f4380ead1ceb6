import { createHash, randomUUID } from "node:crypto";
import type { Pool, Queryable } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { throttledAddress } from "./addresses.ts";

const windowMinutes = 15;
/** An account's owner mistypes a few times; behind one address many people may. */
const attemptsMax = { account: 10, address: 30 } as const;

export type Attempt = { kind: "taken"; id: string } | { kind: "throttled"; retryAfterMs: number };

/**
 * Counts an attempt before the password is looked at, under a lock for its address and for its account: attempts sent
 * all at once count like those one after another, and on every node together. Success gives them back.
 */
export async function takeAttempt(pool: Pool, input: { address: string; email: string }): Promise<Attempt> {
  const limits = new Map([
    [accountKey(input.email), attemptsMax.account],
    [`address/${throttledAddress(input.address)}`, attemptsMax.address],
  ]);
  const keys = [...limits.keys()].sort();
  return inTransaction(pool, async (client) => {
    for (const key of keys) await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [key]);
    const { rows } = await client.query<{ key: string; count: number; freesInMs: number }>(
      `select key, count(*)::int as count,
         ceil(extract(epoch from min(at) + make_interval(mins => $2) - clock_timestamp()) * 1000)::int as "freesInMs"
       from login_attempts where key = any ($1) and at > clock_timestamp() - make_interval(mins => $2) group by key`,
      [keys, windowMinutes],
    );
    const full = rows.filter(({ key, count }) => count >= (limits.get(key) ?? 0));
    if (full.length > 0) return { kind: "throttled", retryAfterMs: Math.max(...full.map((row) => row.freesInMs)) };
    const id = randomUUID();
    await client.query("insert into login_attempts (key, attempt) select unnest($1::text[]), $2", [keys, id]);
    return { kind: "taken", id };
  });
}

/** After a login that was right: its own attempt, and the mistakes made before on the account. */
export async function forgetAttempts(db: Queryable, input: { id: string; email: string }): Promise<void> {
  await db.query("delete from login_attempts where attempt = $1 or key = $2", [input.id, accountKey(input.email)]);
}

/** Hashed: people type their password into the wrong field. */
function accountKey(email: string): string {
  return `account/${createHash("sha256").update(email.trim().toLowerCase()).digest("base64url")}`;
}
