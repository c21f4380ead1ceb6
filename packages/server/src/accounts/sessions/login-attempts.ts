import { createHash, randomUUID } from "node:crypto";
import type { Pool, Queryable } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { throttledAddress } from "../addresses.ts";

const failuresPerHourMax = 1000;

/** Limited for all together: guessing from everywhere must not fill the log. Unknown account names are not stored. */
export async function recordFailure(pool: Pool, failure: { actor: string; address: string | null }): Promise<void> {
  await pool.query(
    `insert into audit_log (actor, address, action)
     select $1, $2, 'login.failed'
     where (select count(*) from (
       select from audit_log where action = 'login.failed'
         and id > to_char((clock_timestamp() - interval '1 hour') at time zone 'UTC', 'YYYYMMDDHH24MISSUS') limit $3
     ) recent) < $3`,
    [failure.actor, failure.address, failuresPerHourMax],
  );
}

/** Who is trying to log in, as far as known before the password is checked. */
export type Guesser =
  | { kind: "stranger"; address: string; email: string }
  /** The person's own session or browser: strangers' failures do not count against it. */
  | { kind: "known"; id: string }
  /** Somebody who knows the password: only the person's own browser is counted apart. */
  | { kind: "half logged in"; userId: string; device: string | null };

type Attempt = { kind: "taken"; id: string; key: string } | { kind: "throttled"; retryAfterMs: number };

const windowMinutes = 15;
/** A person mistypes a few times. Many people may share one address. */
const attemptsMax = { known: 10, accountFromAddress: 10, address: 30, code: 5 } as const;
/**
 * After this many failures from anywhere, an account accepts fewer attempts per address, but never none: otherwise
 * anybody could lock out its owner.
 */
const besieged = { accountMin: 100, accountFromAddressMax: 3 } as const;

/**
 * Counts an attempt before the password is checked, under a lock for each counter: concurrent attempts count like
 * sequential ones, on all nodes together. A success removes them.
 */
export async function takeAttempt(pool: Pool, guesser: Guesser): Promise<Attempt> {
  const own = ownKey(guesser);
  const address = guesser.kind === "stranger" ? `address/${throttledAddress(guesser.address)}` : null;
  const account = guesser.kind === "stranger" ? `account/${digest(guesser.email)}` : null;
  const keys = [own, address, account].filter((key) => key !== null).sort();
  return inTransaction(pool, async (client) => {
    for (const key of keys) await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [key]);
    const countsEnd = await readCounts(client, keys);
    const isBesieged = account !== null && (countsEnd.get(account)?.length ?? 0) >= besieged.accountMin;
    const ownMax = {
      known: attemptsMax.known,
      "half logged in": attemptsMax.code,
      stranger: attemptsMax.accountFromAddress,
    };
    const limits = new Map<string, number>([[own, isBesieged ? besieged.accountFromAddressMax : ownMax[guesser.kind]]]);
    if (address !== null) limits.set(address, attemptsMax.address);
    const waitsMs = [...limits].map(([key, max]) => countsEnd.get(key)?.at(-max) ?? 0);
    const retryAfterMs = Math.max(...waitsMs);
    if (retryAfterMs > 0) return { kind: "throttled", retryAfterMs };
    const id = randomUUID();
    // Above the limit, counting on would only cost time.
    const counted = isBesieged ? keys.filter((key) => key !== account) : keys;
    await client.query("insert into login_attempts (key, attempt) select unnest($1::text[]), $2", [counted, id]);
    return { kind: "taken", id, key: own };
  });
}

/** After a correct password: removes this attempt and earlier mistakes by the same person. */
export async function forgetAttempts(db: Queryable, attempt: { id: string; key: string }): Promise<void> {
  await db.query("delete from login_attempts where attempt = $1 or key = $2", [attempt.id, attempt.key]);
}

/** The milliseconds until each attempt expires, ascending. */
async function readCounts(db: Queryable, keys: readonly string[]): Promise<ReadonlyMap<string, readonly number[]>> {
  const { rows } = await db.query<{ key: string; endsInMs: number[] }>(
    `select key, array_agg(
       ceil(extract(epoch from at + make_interval(mins => $2) - clock_timestamp()) * 1000)::int order by at) as "endsInMs"
     from login_attempts where key = any ($1) and at > clock_timestamp() - make_interval(mins => $2) group by key`,
    [keys, windowMinutes],
  );
  return new Map(rows.map(({ key, endsInMs }) => [key, endsInMs]));
}

function ownKey(guesser: Guesser): string {
  if (guesser.kind === "known") return `known/${guesser.id}`;
  if (guesser.kind === "half logged in") return `code/${guesser.userId}/${guesser.device ?? "strangers"}`;
  return `guesser/${digest(guesser.email)}/${throttledAddress(guesser.address)}`;
}

/** Hashed, because people type their password into the wrong field. */
function digest(email: string): string {
  return createHash("sha256").update(email.trim().toLowerCase()).digest("base64url");
}
