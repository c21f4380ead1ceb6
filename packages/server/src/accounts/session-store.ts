import { createHash, randomBytes } from "node:crypto";
import type { Queryable } from "../db/pool.ts";
import type { Role } from "./user.ts";

/** A browser that is logged in: by a person, or by a link that the console printed, which may do everything. */
export interface Session {
  /** The person's email address, or `console`: for the record of who did what. */
  subject: string;
  role: Role;
  /** Null: the console's. */
  userId: string | null;
}

export const sessionSeconds = 7 * 24 * 60 * 60;

/** 256 bits: nobody guesses one, so that only its hash need be kept. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The role is the person's as it is now: whoever is made a viewer is one at once. */
export async function findSession(db: Queryable, token: string): Promise<Session | null> {
  const { rows } = await db.query<Session>({
    name: "find-session",
    text: `select coalesce(users.email, sessions.subject) as subject, coalesce(users.role, 'owner') as role,
             user_id as "userId"
           from sessions left join users on users.id = user_id
           where token_hash = $1 and expires_at > clock_timestamp()`,
    values: [hashToken(token)],
  });
  return rows[0] ?? null;
}

export async function deleteSession(db: Queryable, token: string): Promise<void> {
  await db.query("delete from sessions where token_hash = $1", [hashToken(token)]);
}
