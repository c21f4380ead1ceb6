import { randomUUID } from "node:crypto";
import type { Pool } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { type Entry, enterOrAsk } from "../factors/second-step.ts";
import { spendResetLinks } from "../people/login-links.ts";
import { parsePassword, readEmail } from "../people/user.ts";
import type { Sealer } from "../secrets.ts";
import { forgetAttempts, type Guesser, recordFailure, takeAttempt } from "./login-attempts.ts";
import type { Passwords } from "./passwords.ts";
import { endSessions, type LoginWay, openSession } from "./session-store.ts";
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
  | Entry
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
    return enterOrAsk(client, session);
  });
}

/** Another person's browser counts as a stranger. */
function guesserOf({ email, address, device }: Credentials): Guesser {
  const isTheirs = device !== null && device.email === readEmail(email);
  return isTheirs ? { kind: "known", id: device.id } : { kind: "stranger", address, email };
}

interface PasswordChange {
  userId: string;
  /** Null if the person has no password yet and used single sign-on or a passkey. */
  current: string | null;
  /** Takes the place of a current password: the new session can change factors. */
  isFresh: boolean;
  next: string;
  address: string;
  /** How the session began. The new one takes its place. */
  how: LoginWay | null;
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
  else if (!input.isFresh) throw notFresh();
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
    await endSessions(client, input.userId);
    return openSession(client, {
      userId: input.userId,
      how: input.how ?? "password",
      address: input.address,
      replaces: null,
    });
  });
}

export const notFresh = () =>
  new AppError("forbidden", {
    publicMessage: "Confirm that it is you first: with your password, a code or a passkey, or log out and in again.",
  });

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
