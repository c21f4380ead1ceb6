import type { Queryable } from "../db/pool.ts";
import { hashToken } from "./session-store.ts";
import type { Role } from "./user.ts";

/** What a single-use link is good for. */
export type Link =
  /** Logs a browser in as the console, and goes on to a page. */
  | { purpose: "login"; landsOn: string }
  /** Makes somebody the first owner of an installation. */
  | { purpose: "owner" }
  | { purpose: "invite"; email: string; role: Role }
  /** Sets a person's password anew. */
  | { purpose: "reset"; email: string; userId: string };

interface LinkRow {
  purpose: Link["purpose"];
  landsOn: string;
  email: string;
  role: Role;
  userId: string;
}

const columns = `purpose, lands_on as "landsOn", email, role, user_id as "userId"`;
const isLive = "used_at is null and expires_at > clock_timestamp()";

/** Null: used, expired or never made, which is all the same to whoever asks. */
export async function findLink(db: Queryable, token: string): Promise<Link | null> {
  const { rows } = await db.query<LinkRow>(`select ${columns} from login_links where token_hash = $1 and ${isLive}`, [
    hashToken(token),
  ]);
  return rows[0] ? toLink(rows[0]) : null;
}

/** Of two who spend a link at the same time, one gets it. */
export async function spendLink(db: Queryable, token: string): Promise<Link | null> {
  const { rows } = await db.query<LinkRow>(
    `update login_links set used_at = clock_timestamp() where token_hash = $1 and ${isLive} returning ${columns}`,
    [hashToken(token)],
  );
  return rows[0] ? toLink(rows[0]) : null;
}

/** With every new password: whoever holds a link that was made before must not set yet another one. */
export async function spendResetLinks(db: Queryable, userId: string): Promise<void> {
  await db.query(
    "update login_links set used_at = clock_timestamp() where purpose = 'reset' and user_id = $1 and used_at is null",
    [userId],
  );
}

function toLink({ purpose, landsOn, email, role, userId }: LinkRow): Link {
  switch (purpose) {
    case "login":
      return { purpose, landsOn };
    case "owner":
      return { purpose };
    case "invite":
      return { purpose, email, role };
    case "reset":
      return { purpose, email, userId };
  }
}

/** Every link has this one form; where it leads to depends on what it is for. */
export function linkUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/login/${token}`;
}
