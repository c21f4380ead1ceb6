import type { Pool, Queryable } from "../../db/pool.ts";
import { inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { Sealer } from "../secrets.ts";
import { forgetAttempts, recordFailure, takeAttempt } from "../sessions/login-attempts.ts";
import { hashToken, type NewSession, newToken, openSession } from "../sessions/session-store.ts";
import { spendCode } from "./codes.ts";
import { listFactors } from "./list-factors.ts";
import { spendPasskey } from "./passkeys.ts";
import { isFactorRequired } from "./requirement.ts";

/** The second step of a login: the password, or a reset link, was right, and the person has a second factor. */

/** Who logged in so far. */
interface FirstStep extends NewSession {
  userId: string;
  how: "password" | "link";
}

export type Entry =
  | { kind: "logged_in"; sessionToken: string }
  /** The token opens nothing: with it, a code can be sent. With neither app nor passkey, the person sets one up. */
  | { kind: "needs_factor"; pendingToken: string; hasApp: boolean; hasPasskey: boolean };

const pendingMinutes = 10;

/** Opens a session, or asks for the second factor of whoever has one, or has to have one. */
export async function enterOrAsk(db: Queryable, input: FirstStep): Promise<Entry> {
  const { appSince, passkeys } = await listFactors(db, input.userId);
  const isAsked = appSince !== null || passkeys.length > 0 || (await isFactorRequired(db));
  if (!isAsked) return { kind: "logged_in", sessionToken: await openSession(db, input) };
  const pendingToken = newToken();
  await db.query(
    `insert into pending_logins (token_hash, user_id, opened_by, expires_at)
     values ($1, $2, $3, clock_timestamp() + make_interval(mins => $4))`,
    [hashToken(pendingToken), input.userId, input.how, pendingMinutes],
  );
  return { kind: "needs_factor", pendingToken, hasApp: appSince !== null, hasPasskey: passkeys.length > 0 };
}

export interface PendingLogin {
  userId: string;
  email: string;
  how: "password" | "link";
}

/** Null if it is unknown, used or expired. */
export async function findPending(db: Queryable, token: string, lock: "" | "for update of pending_logins" = "") {
  const { rows } = await db.query<PendingLogin>(
    `select user_id as "userId", email, opened_by as how from pending_logins join users on users.id = user_id
     where token_hash = $1 and expires_at > clock_timestamp() ${lock}`,
    [hashToken(token)],
  );
  return rows[0] ?? null;
}

export const loginExpired = () =>
  new AppError("conflict", { publicMessage: "This login has expired. Start again with your password." });

interface SecondStep {
  pendingToken: string;
  /** Of the authenticator app, or a recovery code. */
  code: string;
  address: string;
  device: { email: string; id: string } | null;
  replaces: string | null;
}

type SecondStepOutcome =
  | { kind: "logged_in"; sessionToken: string }
  | { kind: "refused" }
  | { kind: "throttled"; retryAfterMs: number }
  /** The login must start again. */
  | { kind: "gone" };

/** Whose login waits, for the choice of passkeys. Null if there is none: the login must start again. */
export async function findPendingUser(pool: Pool, pendingToken: string): Promise<string | null> {
  return (await findPending(pool, pendingToken))?.userId ?? null;
}

/** A passkey that was verified: the second step of a login, or the whole of it. */
interface PasskeyLogin {
  passkey: { id: string; userId: string; email: string; newCounter: number };
  /** Null: without a password. */
  pendingToken: string | null;
  address: string;
  replaces: string | null;
}

export async function finishWithPasskey(
  pool: Pool,
  input: PasskeyLogin,
): Promise<{ kind: "logged_in"; sessionToken: string } | { kind: "refused" }> {
  const { passkey, pendingToken, address, replaces } = input;
  const { userId, email } = passkey;
  const outcome = await inTransactionAs(pool, { name: email, address }, async (client) => {
    const pending =
      pendingToken === null ? null : await findPending(client, pendingToken, "for update of pending_logins");
    const isTheirs = pendingToken === null || pending?.userId === userId;
    if (!isTheirs || !(await spendPasskey(client, passkey))) return { kind: "refused" } as const;
    if (pendingToken !== null) {
      await client.query("delete from pending_logins where token_hash = $1", [hashToken(pendingToken)]);
    }
    const how = pending ? (`${pending.how} and passkey` as const) : "passkey";
    return { kind: "logged_in", sessionToken: await openSession(client, { userId, how, address, replaces }) } as const;
  });
  if (outcome.kind === "refused") await recordFailure(pool, { actor: email, address });
  return outcome;
}

/** Completes a login with a code. Attempts are counted for the account, before the code is compared. */
export async function finishLogin(deps: { pool: Pool; sealer: Sealer }, input: SecondStep): Promise<SecondStepOutcome> {
  const { pool } = deps;
  const pending = await findPending(pool, input.pendingToken);
  if (!pending) return { kind: "gone" };
  const { userId, email } = pending;
  const device = input.device?.email === email.toLowerCase() ? input.device.id : null;
  const attempt = await takeAttempt(pool, { kind: "half logged in", userId, device });
  if (attempt.kind === "throttled") return attempt;
  const outcome = await inTransactionAs(pool, { name: email, address: input.address }, async (client) => {
    // Of two that use it, the second finds it gone. A new password removes it.
    const held = await findPending(client, input.pendingToken, "for update of pending_logins");
    if (!held) return { kind: "gone" } as const;
    const factor = await spendCode({ client, sealer: deps.sealer }, { userId, code: input.code });
    if (factor === null) return { kind: "refused" } as const;
    await client.query("delete from pending_logins where token_hash = $1", [hashToken(input.pendingToken)]);
    await forgetAttempts(client, attempt);
    const how = `${held.how} and ${factor}` as const;
    const session = { userId, how, address: input.address, replaces: input.replaces };
    return { kind: "logged_in", sessionToken: await openSession(client, session) } as const;
  });
  if (outcome.kind === "refused") await recordFailure(pool, { actor: email, address: input.address });
  return outcome;
}
