import { inTransactionAs } from "../../db/acting.ts";
import type { Pool } from "../../db/pool.ts";
import { readEmail } from "../people/user.ts";
import type { KnownDevice } from "./known-devices.ts";
import { forgetAttempts, type Guesser, takeAttempt } from "./login-attempts.ts";
import type { Passwords } from "./passwords.ts";
import { openSession } from "./session-store.ts";

interface Credentials {
  email: string;
  password: string;
  address: string;
  /** The browser's owner, if known. */
  device: KnownDevice | null;
  replaces: string | null;
}

export type LogInOutcome =
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
