import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { deleteSession, hashToken, newToken } from "./session-store.ts";

const sessionSeconds = 7 * 24 * 60 * 60;

export type ClaimedLink =
  | { kind: "claimed"; landsOn: string; sessionToken: string; sessionSeconds: number }
  /** Used, expired or never made: one answer for all. */
  | { kind: "gone" };

/** Spends the link and opens the session in one transaction: of two browsers, one gets in. */
export async function claimLoginLink(
  deps: { pool: Pool },
  input: { token: string; replaces: string | null },
): Promise<ClaimedLink> {
  return inTransaction(deps.pool, async (client) => {
    const { rows } = await client.query<{ lands_on: string }>(
      `update login_links set used_at = clock_timestamp()
       where token_hash = $1 and used_at is null and expires_at > clock_timestamp()
       returning lands_on`,
      [hashToken(input.token)],
    );
    const link = rows[0];
    if (!link) return { kind: "gone" };
    // A session that was planted in this browser before must not become a logged-in one.
    if (input.replaces !== null) await deleteSession(client, input.replaces);
    const sessionToken = newToken();
    await client.query(
      `insert into sessions (token_hash, subject, expires_at)
       values ($1, 'operator', clock_timestamp() + make_interval(secs => $2))`,
      [hashToken(sessionToken), sessionSeconds],
    );
    return { kind: "claimed", landsOn: link.lands_on, sessionToken, sessionSeconds };
  });
}
