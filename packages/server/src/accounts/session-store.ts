import { createHash, randomBytes } from "node:crypto";
import type { Queryable } from "../db/pool.ts";

/** Whoever opened a link from the console: an operator of this installation. */
export interface Session {
  subject: string;
}

/** 256 bits: nobody guesses one, so that only its hash need be kept. */
export function newToken(): string {
  return randomBytes(32).toString("base64url");
}

export function hashToken(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

export async function findSession(db: Queryable, token: string): Promise<Session | null> {
  const { rows } = await db.query<Session>({
    name: "find-session",
    text: "select subject from sessions where token_hash = $1 and expires_at > clock_timestamp()",
    values: [hashToken(token)],
  });
  return rows[0] ?? null;
}

export async function deleteSession(db: Queryable, token: string): Promise<void> {
  await db.query("delete from sessions where token_hash = $1", [hashToken(token)]);
}
