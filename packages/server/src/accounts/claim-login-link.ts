import { inTransactionAs } from "../db/acting.ts";
import type { Pool } from "../db/pool.ts";
import { findLink, spendLink } from "./links.ts";
import { openSession } from "./open-session.ts";

export type ClaimedLink =
  | { kind: "claimed"; landsOn: string; sessionToken: string }
  /** It asks something first: nothing is spent by looking at it. */
  | { kind: "asks" }
  /** Used, expired or never made: one answer for all. */
  | { kind: "gone" };

/** Spends a link of the console and opens its session in one transaction: of two browsers, one gets in. */
export async function claimLoginLink(
  deps: { pool: Pool },
  input: { token: string; address: string | null; replaces: string | null },
): Promise<ClaimedLink> {
  const offered = await findLink(deps.pool, input.token);
  if (!offered) return { kind: "gone" };
  if (offered.purpose !== "login") return { kind: "asks" };
  return inTransactionAs(deps.pool, { name: "console", address: input.address }, async (client) => {
    const link = await spendLink(client, input.token);
    if (link?.purpose !== "login") return { kind: "gone" };
    const session = { userId: null, how: "link", address: input.address, replaces: input.replaces } as const;
    return { kind: "claimed", landsOn: link.landsOn, sessionToken: await openSession(client, session) };
  });
}
