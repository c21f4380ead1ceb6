import type { Pool } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { Sealer } from "../secrets.ts";
import { forgetAttempts, recordFailure, takeAttempt } from "../sessions/login-attempts.ts";
import type { Passwords } from "../sessions/passwords.ts";
import { renewProof } from "../sessions/session-store.ts";
import { spendCode } from "./codes.ts";
import { spendPasskey } from "./passkeys.ts";

type Proof = { password: string } | { code: string };

/**
 * Confirms a session by the password or a code, which makes it fresh. Throttled like a change of the password: a stolen
 * session must not be usable to guess.
 */
export async function proveAgain(
  deps: { pool: Pool; passwords: Passwords; sealer: Sealer },
  input: { userId: string; sessionToken: string; proof: Proof; actor: Actor },
): Promise<void> {
  const { pool } = deps;
  const attempt = await takeAttempt(pool, { kind: "known", id: input.userId });
  if (attempt.kind === "throttled") {
    throw new AppError("rate_limited", {
      publicMessage: "Too many wrong passwords or codes. Try again later.",
      retryAfterMs: attempt.retryAfterMs,
    });
  }
  const { proof } = input;
  const isRight =
    "code" in proof
      ? await isCodeRight(deps, input, proof.code)
      : await isPasswordRight(deps, input.userId, proof.password);
  if (!isRight) {
    await recordFailure(pool, { actor: input.actor.name, address: input.actor.address });
    throw new AppError("invalid_request", { publicMessage: `The ${"code" in proof ? "code" : "password"} is wrong.` });
  }
  await forgetAttempts(pool, attempt);
  await renewProof(pool, input.sessionToken);
}

/** With a passkey that was verified. */
export async function proveByPasskey(
  pool: Pool,
  input: { sessionToken: string; actor: Actor },
  passkey: { id: string; newCounter: number },
): Promise<void> {
  await inTransactionAs(pool, input.actor, async (client) => {
    if (!(await spendPasskey(client, passkey))) {
      throw new AppError("invalid_request", { publicMessage: "This passkey was not accepted. Try another way." });
    }
    await renewProof(client, input.sessionToken);
  });
}

async function isPasswordRight(
  deps: { pool: Pool; passwords: Passwords },
  userId: string,
  password: string,
): Promise<boolean> {
  const { rows } = await deps.pool.query<{ hash: string | null }>(
    "select password_hash as hash from users where id = $1",
    [userId],
  );
  return deps.passwords.isRight(password, rows[0]?.hash ?? null);
}

function isCodeRight(
  deps: { pool: Pool; sealer: Sealer },
  { userId, actor }: { userId: string; actor: Actor },
  code: string,
): Promise<boolean> {
  return inTransactionAs(deps.pool, actor, async (client) => {
    return (await spendCode({ client, sealer: deps.sealer }, { userId, code })) !== null;
  });
}
