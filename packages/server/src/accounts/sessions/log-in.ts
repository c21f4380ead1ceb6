import { createHash, randomUUID } from "node:crypto";
import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, inTransaction, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { throttledAddress } from "../addresses.ts";
import { spendResetLinks } from "../people/login-links.ts";
import { parsePassword, readEmail } from "../people/user.ts";
import type { Sealer } from "../secrets.ts";
import type { Passwords } from "./passwords.ts";
import { openSession } from "./session-store.ts";
import { deviceCookie, readDeviceCookie, type Sessions } from "./sessions.ts";

interface Credentials {
  email: string;
  password: string;
  address: string;
  /** The browser's owner, if known. */
  device: KnownDevice | null;
  replaces: string | null;
}

type LogInOutcome =
  | { kind: "logged_in"; sessionToken: string }
  /** Unknown account, no password, or the wrong one: the same response for all. */
  | { kind: "refused" }
  | { kind: "throttled"; retryAfterMs: number };

export async function logIn(deps: { pool: Pool; passwords: Passwords }, input: Credentials): Promise<LogInOutcome> {
  const { pool } = deps;
  const attempt = await takeAttempt(pool, guesserOf(input));
  if (attempt.kind === "throttled") return attempt;
  const { rows } = await pool.query<{ id: string; email: string; hash: string | null }>(
    "select id, email, password_hash as hash from users where lower(email) = $1",
    // An invalid address is refused and counted like a wrong password.
    [readEmail(input.email)],
  );
  const user = rows[0];
  const isRight = await deps.passwords.isRight(input.password, user?.hash ?? null);
  if (!user || !isRight) {
    await recordFailure(pool, { actor: user?.email ?? "unknown", address: input.address });
    return { kind: "refused" };
  }
  return inTransactionAs(pool, { name: user.email, address: input.address }, async (client) => {
    // The person may have been removed, or got another password, during the hash.
    const held = await client.query("select from users where id = $1 and password_hash = $2 for key share", [
      user.id,
      user.hash,
    ]);
    if (held.rowCount === 0) return { kind: "refused" };
    await forgetAttempts(client, attempt);
    const session = { userId: user.id, how: "password", address: input.address, replaces: input.replaces } as const;
    return { kind: "logged_in", sessionToken: await openSession(client, session) };
  });
}

/** Another person's browser counts as a stranger. */
function guesserOf({ email, address, device }: Credentials): Guesser {
  const isTheirs = device !== null && device.email === readEmail(email);
  return isTheirs ? { kind: "known", id: device.id } : { kind: "stranger", address, email };
}

const failuresPerHourMax = 1000;

/** Limited for all together: guessing from everywhere must not fill the log. Unknown account names are not stored. */
async function recordFailure(pool: Pool, failure: { actor: string; address: string }): Promise<void> {
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
type Guesser =
  | { kind: "stranger"; address: string; email: string }
  /** The person's own session or browser: strangers' failures do not count against it. */
  | { kind: "known"; id: string };

type Attempt = { kind: "taken"; id: string; key: string } | { kind: "throttled"; retryAfterMs: number };

const windowMinutes = 15;
/** A person mistypes a few times. Many people may share one address. */
const attemptsMax = { known: 10, accountFromAddress: 10, address: 30 } as const;
/**
 * After this many failures from anywhere, an account accepts fewer attempts per address, but never none: otherwise
 * anybody could lock out its owner.
 */
const besieged = { accountMin: 100, accountFromAddressMax: 3 } as const;

/**
 * Counts an attempt before the password is checked, under a lock for each counter: concurrent attempts count like
 * sequential ones, on all nodes together. A success removes them.
 */
async function takeAttempt(pool: Pool, guesser: Guesser): Promise<Attempt> {
  const own = ownKey(guesser);
  const address = guesser.kind === "stranger" ? `address/${throttledAddress(guesser.address)}` : null;
  const account = guesser.kind === "stranger" ? `account/${digest(guesser.email)}` : null;
  const keys = [own, address, account].filter((key) => key !== null).sort();
  return inTransaction(pool, async (client) => {
    for (const key of keys) await client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [key]);
    const countsEnd = await readCounts(client, keys);
    const isBesieged = account !== null && (countsEnd.get(account)?.length ?? 0) >= besieged.accountMin;
    const ownMax = guesser.kind === "known" ? attemptsMax.known : attemptsMax.accountFromAddress;
    const limits = new Map<string, number>([[own, isBesieged ? besieged.accountFromAddressMax : ownMax]]);
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
async function forgetAttempts(db: Queryable, attempt: { id: string; key: string }): Promise<void> {
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
  return `guesser/${digest(guesser.email)}/${throttledAddress(guesser.address)}`;
}

/** Hashed, because people type their password into the wrong field. */
function digest(email: string): string {
  return createHash("sha256").update(email.trim().toLowerCase()).digest("base64url");
}

interface PasswordChange {
  userId: string;
  /** Null if the person has no password yet and used single sign-on. */
  current: string | null;
  next: string;
  address: string;
}

/** Ends all of the person's sessions and opens a new one for this browser. Returns its token. */
export async function changePassword(
  deps: { pool: Pool; passwords: Passwords },
  input: PasswordChange,
): Promise<string> {
  const { pool, passwords } = deps;
  const { rows } = await pool.query<{ email: string; hash: string | null }>(
    "select email, password_hash as hash from users where id = $1",
    [input.userId],
  );
  const user = rows[0];
  if (!user) throw new AppError("unauthorized", { publicMessage: "Log in first." });
  const next = parsePassword(input.next, user.email);
  if (user.hash !== null) await proveCurrent(deps, { ...input, hash: user.hash });
  const hash = await passwords.hash(next);
  const actor: Actor = { name: user.email, address: input.address };
  return inTransactionAs(pool, actor, async (client) => {
    const { rowCount } = await client.query(
      "update users set password_hash = $2 where id = $1 and password_hash is not distinct from $3",
      [input.userId, hash, user.hash],
    );
    if (rowCount === 0)
      throw new AppError("conflict", {
        publicMessage: "The password was just changed in another session. Log in again.",
      });
    await spendResetLinks(client, input.userId);
    await client.query("delete from sessions where user_id = $1", [input.userId]);
    return openSession(client, { userId: input.userId, how: "password", address: input.address, replaces: null });
  });
}

/**
 * Throttled like a login: a stolen session must not be usable to guess the password. Counted per person, so that nobody
 * without a session can block them.
 */
async function proveCurrent(
  deps: { pool: Pool; passwords: Passwords },
  input: { userId: string; hash: string; current: string | null },
): Promise<void> {
  const attempt = await takeAttempt(deps.pool, { kind: "known", id: input.userId });
  if (attempt.kind === "throttled") {
    throw new AppError("rate_limited", {
      publicMessage: "Too many wrong passwords. Try again later.",
      retryAfterMs: attempt.retryAfterMs,
    });
  }
  if (!(await deps.passwords.isRight(input.current ?? "", input.hash))) {
    throw new AppError("invalid_request", { publicMessage: "The current password is wrong." });
  }
  await forgetAttempts(deps.pool, attempt);
}

/**
 * A browser that somebody logged in with before. It grants nothing: it only separates its owner from strangers who
 * guess at the same account.
 */
export interface KnownDevice {
  email: string;
  id: string;
}

export interface KnownDevices {
  /** By an earlier login's cookie, or by its session. */
  find(cookieHeader: string | undefined): Promise<KnownDevice | null>;
  /** For a browser in which somebody has just logged in. */
  cookieOf(email: string): string;
}

const context = "known device";
const keptDays = 180;
const dayMs = 86_400_000;

export function createKnownDevices(deps: {
  sealer: Sealer;
  sessions: Pick<Sessions, "find">;
  publicUrl(): string;
  now?: () => number;
}): KnownDevices {
  const now = deps.now ?? Date.now;

  function open(sealed: string | null): KnownDevice | null {
    if (sealed === null) return null;
    try {
      const kept = JSON.parse(deps.sealer.open(Buffer.from(sealed, "base64url"), context));
      return kept.expiresAtMs > now() ? { email: kept.email, id: kept.id } : null;
    } catch {
      // Not encrypted by this installation.
      return null;
    }
  }

  return {
    async find(cookieHeader) {
      const device = open(readDeviceCookie(deps.publicUrl(), cookieHeader));
      if (device) return device;
      const session = await deps.sessions.find(cookieHeader);
      return session?.userId ? { email: session.subject.toLowerCase(), id: session.userId } : null;
    },
    cookieOf(email) {
      const device = { email: email.toLowerCase(), id: randomUUID(), expiresAtMs: now() + keptDays * dayMs };
      const sealed = deps.sealer.seal(JSON.stringify(device), context).toString("base64url");
      return deviceCookie(deps.publicUrl(), sealed, (keptDays * dayMs) / 1000);
    },
  };
}
