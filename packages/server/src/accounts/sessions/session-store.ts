import { createHash, randomBytes } from "node:crypto";
import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { sessionCounts } from "../factors/requirement.ts";
import type { Role } from "../people/user.ts";

/** A logged-in browser: of a person, or through a console link, which may do everything. */
export interface Session {
  /** The person's email address, or `console`, for the audit log. */
  subject: string;
  role: Role;
  /** Null for the console. */
  userId: string | null;
  /** Logged in, or confirmed by a password or a factor, within the last ten minutes. */
  isFresh: boolean;
  /** Null for sessions of an earlier release. */
  how: LoginWay | null;
}

export const sessionSeconds = 7 * 24 * 60 * 60;

/** 256 bits cannot be guessed, so a plain hash is enough. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The role is read now, so that a demotion applies immediately. */
export async function findSession(db: Queryable, token: string): Promise<Session | null> {
  const { rows } = await db.query<Session>({
    name: "find-session",
    text: `select coalesce(users.email, sessions.subject) as subject, coalesce(users.role, 'owner') as role,
             user_id as "userId",
             coalesce(proved_at > clock_timestamp() - interval '10 minutes', false) as "isFresh",
             opened_by as how
           from sessions left join users on users.id = user_id
           where token_hash = $1 and expires_at > clock_timestamp() and ${sessionCounts}`,
    values: [hashToken(token)],
  });
  return rows[0] ?? null;
}

export async function deleteSession(db: Queryable, token: string): Promise<void> {
  await db.query("delete from sessions where token_hash = $1", [hashToken(token)]);
}

/** The words are shown in the list of sessions and in the audit log. */
export type LoginWay =
  | "password"
  | "link"
  | "single sign-on"
  | "passkey"
  | `${"password" | "link"} and ${"authenticator app" | "recovery code" | "passkey"}`;

export interface NewSession {
  /** Null for the console. */
  userId: string | null;
  how: LoginWay;
  /** The browser's address, or null if unknown. */
  address: string | null;
  /** The browser's previous session. Prevents session fixation. */
  replaces: string | null;
}

/** Opens a session and returns its token. Call it in the transaction that authenticated the person. */
export async function openSession(db: Queryable, input: NewSession): Promise<string> {
  if (input.replaces !== null) await deleteSession(db, input.replaces);
  const token = newToken();
  await db.query(
    `with opened as (
       insert into sessions (token_hash, subject, user_id, expires_at, opened_by, opened_from, proved_at)
       values ($1, 'console', $2, clock_timestamp() + make_interval(secs => $3), $4, $5, clock_timestamp())
     ), seen as (update users set last_login_at = clock_timestamp() where id = $2)
     select audit('login', $2, jsonb_build_object('by', $4::text), 'console')`,
    [hashToken(token), input.userId, sessionSeconds, input.how, input.address],
  );
  return token;
}

/** All of a person's, or all but one; with logins that wait for a second factor. */
export async function endSessions(db: Queryable, userId: string, except: string | null = null): Promise<void> {
  await db.query("delete from pending_logins where user_id = $1", [userId]);
  await db.query("delete from sessions where user_id = $1 and token_hash is distinct from $2", [
    userId,
    except === null ? null : hashToken(except),
  ]);
}

/** The person has just shown that it is them. */
export async function renewProof(db: Queryable, token: string): Promise<void> {
  await db.query("update sessions set proved_at = clock_timestamp() where token_hash = $1", [hashToken(token)]);
}

/** A logged-in browser. */
interface OwnSession {
  startedAt: Date;
  expiresAt: Date;
  /** How and from where. Null for sessions of an earlier release. */
  by: LoginWay | null;
  address: string | null;
  isThis: boolean;
}

/** The person (or the console) and the current browser. */
export interface Holder {
  /** Null for the console. */
  userId: string | null;
  token: string;
}

/** Valid sessions: this browser's first, then the newest. */
export async function listOwnSessions(db: Queryable, { userId, token }: Holder): Promise<readonly OwnSession[]> {
  const { rows } = await db.query<OwnSession>(
    `select created_at as "startedAt", expires_at as "expiresAt", opened_by as by, opened_from as address,
       token_hash = $2 as "isThis"
     from sessions where user_id is not distinct from $1 and expires_at > clock_timestamp()
     order by "isThis" desc, created_at desc limit 100`,
    [userId, hashToken(token)],
  );
  return rows;
}

/** Logs out all other browsers and returns how many. */
export async function endOtherSessions(pool: Pool, { userId, token }: Holder, actor: Actor): Promise<number> {
  return inTransactionAs(pool, actor, async (client) => {
    const { rowCount } = await client.query(
      "delete from sessions where user_id is not distinct from $1 and token_hash <> $2",
      [userId, hashToken(token)],
    );
    const ended = rowCount ?? 0;
    if (ended > 0) {
      await client.query("select audit('sessions.ended', $1, jsonb_build_object('ended', $2::int))", [userId, ended]);
    }
    return ended;
  });
}
