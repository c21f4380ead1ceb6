import { type Actor, inTransactionAs } from "../../db/acting.ts";
import type { Pool } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { spendResetLinks } from "../people/login-links.ts";
import { parsePassword } from "../people/user.ts";
import { forgetAttempts, takeAttempt } from "./login-attempts.ts";
import type { Passwords } from "./passwords.ts";
import { openSession } from "./session-store.ts";

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
