import { randomBytes } from "node:crypto";
import type { Pool } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { throttledAddress } from "../addresses.ts";
import { hashToken } from "../sessions/session-store.ts";

/** What a challenge was made for. It works for nothing else. */
export interface ChallengeUse {
  purpose: "register" | "log in" | "prove";
  /** Null: anybody's passkey may answer. */
  userId: string | null;
}

const challengeMinutes = 5;
/** Anybody may ask for one, so there are only so many of an address. */
const challengesMax = 100;

/** A challenge for a passkey: used once, within five minutes. */
export async function newChallenge(
  pool: Pool,
  input: ChallengeUse & { address: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = new Uint8Array(randomBytes(32));
  const { rowCount } = await pool.query(
    `with swept as (delete from passkey_challenges where expires_at < clock_timestamp())
     insert into passkey_challenges (challenge_hash, purpose, user_id, address, expires_at)
     select $1, $2, $3, $4::text, clock_timestamp() + make_interval(mins => $5)
     where (select count(*) from passkey_challenges where address = $4 and expires_at > clock_timestamp()) < $6`,
    [
      hashToken(Buffer.from(challenge).toString("base64url")),
      input.purpose,
      input.userId,
      throttledAddress(input.address),
      challengeMinutes,
      challengesMax,
    ],
  );
  if (rowCount === 1) return challenge;
  throw new AppError("rate_limited", {
    publicMessage: "Too many attempts with a passkey. Try again in a few minutes.",
    retryAfterMs: challengeMinutes * 60_000,
  });
}

/** False if it is unknown, used, too old, or was made for something else. Of two that use it, one succeeds. */
export async function spendChallenge(pool: Pool, use: ChallengeUse, challenge: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `delete from passkey_challenges where challenge_hash = $1 and purpose = $2 and user_id is not distinct from $3
       and expires_at > clock_timestamp()`,
    [hashToken(challenge), use.purpose, use.userId],
  );
  return rowCount === 1;
}
