import { isIP } from "node:net";
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from "@simplewebauthn/server";
import type { Client, Pool, Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { type ChallengeUse, newChallenge, spendChallenge } from "./challenges.ts";

/** Passkeys (WebAuthn): what authenticators are asked, and what is accepted of them. The protocol is the library's. */

interface Site {
  /** The domain that passkeys are bound to. */
  rpId: string;
  origin: string;
}

/** Null: browsers allow no passkeys there, because it has no domain or no https. */
export function passkeySite(publicUrl: string): Site | null {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isSecure = protocol === "https:" || hostname === "localhost";
  return isSecure && isIP(hostname.replace(/^\[|\]$/g, "")) === 0 ? { rpId: hostname, origin } : null;
}

export function requireSite(publicUrl: string): Site {
  const site = passkeySite(publicUrl);
  if (site) return site;
  throw new AppError("conflict", {
    publicMessage: `Passkeys need a domain name and https. This installation's address is ${publicUrl}: an administrator can set EMEND_PUBLIC_URL.`,
  });
}

/** Whether anybody has one: before that, the login page does not offer it. */
export async function hasPasskeys(db: Queryable): Promise<boolean> {
  return ((await db.query("select from passkeys limit 1")).rowCount ?? 0) > 0;
}

const passkeysMax = 20;
/** ES256, EdDSA and RS256: what today's authenticators have. */
const algorithms = [-7, -8, -257];

/** Always with a check of the person, by PIN or fingerprint: a passkey is then two factors. */
const userVerification = "required";

interface Person {
  userId: string;
  email: string;
}

export async function registrationOptions(
  pool: Pool,
  site: Site,
  input: Person & { address: string },
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const known = await credentialsOf(pool, input.userId);
  if (known.length >= passkeysMax) {
    throw new AppError("conflict", { publicMessage: `You have ${passkeysMax} passkeys. Remove one first.` });
  }
  return generateRegistrationOptions({
    rpName: "Emend",
    rpID: site.rpId,
    userID: new TextEncoder().encode(input.userId),
    userName: input.email,
    challenge: await newChallenge(pool, { purpose: "register", userId: input.userId, address: input.address }),
    attestationType: "none",
    excludeCredentials: known,
    authenticatorSelection: { residentKey: "required", userVerification },
    supportedAlgorithmIDs: algorithms,
  });
}

export interface NewPasskey {
  id: string;
  publicKey: Buffer;
  counter: number;
}

/** Throws an AppError for anything but an answer to this person's challenge, made at this installation's address. */
export async function verifyRegistration(
  pool: Pool,
  site: Site,
  input: { userId: string; response: unknown },
): Promise<NewPasskey> {
  const use: ChallengeUse = { purpose: "register", userId: input.userId };
  const checked = await verifyRegistrationResponse({
    response: input.response as RegistrationResponseJSON,
    expectedChallenge: (challenge) => spendChallenge(pool, use, challenge),
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: algorithms,
  }).catch(refuse("invalid_request"));
  if (!checked.verified) throw refused("invalid_request");
  const { id, publicKey, counter } = checked.registrationInfo.credential;
  return { id, publicKey: Buffer.from(publicKey), counter };
}

/** `userId`: whose passkey it must be. Null: the passkey says who it is. */
export async function authenticationOptions(
  pool: Pool,
  site: Site,
  input: { purpose: "log in" | "prove"; userId: string | null; address: string },
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  return generateAuthenticationOptions({
    rpID: site.rpId,
    userVerification,
    challenge: await newChallenge(pool, input),
    ...(input.userId !== null && { allowCredentials: await credentialsOf(pool, input.userId) }),
  });
}

interface StoredPasskey extends Person {
  id: string;
  publicKey: Buffer;
  counter: number;
}

/** Returns whose passkey it is, and what `spendPasskey` needs. Throws an AppError for anything else, always in the same words. */
export async function verifyPasskey(
  pool: Pool,
  site: Site,
  input: { purpose: "log in" | "prove"; userId: string | null; response: unknown },
): Promise<StoredPasskey & { newCounter: number }> {
  const code = input.purpose === "log in" ? "unauthorized" : "invalid_request";
  const response = input.response as AuthenticationResponseJSON;
  const stored = await findPasskey(pool, response.id);
  // The challenge is used up, whatever else is wrong.
  const use: ChallengeUse = { purpose: input.purpose, userId: input.userId };
  const spent = await spendChallenge(pool, use, challengeOf(response));
  const isTheirs = stored !== null && (input.userId === null || stored.userId === input.userId);
  if (!spent || !isTheirs) throw refused(code);
  const checked = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challengeOf(response),
    expectedOrigin: site.origin,
    expectedRPID: site.rpId,
    requireUserVerification: true,
    credential: { id: stored.id, publicKey: new Uint8Array(stored.publicKey), counter: stored.counter },
  }).catch(refuse(code));
  const handle = response.response.userHandle;
  const isNamed =
    handle === undefined || handle === null || Buffer.from(handle, "base64url").toString() === stored.userId;
  if (!checked.verified || !isNamed) throw refused(code);
  return { ...stored, newCounter: checked.authenticationInfo.newCounter };
}

/**
 * Records the use. False if the passkey is gone, or its counter did not rise meanwhile: a copy of the authenticator was
 * used. Authenticators without a counter always say 0.
 */
export async function spendPasskey(client: Client, used: { id: string; newCounter: number }): Promise<boolean> {
  const { rowCount } = await client.query(
    `update passkeys set counter = $2, last_used_at = clock_timestamp()
     where id = $1 and (counter < $2 or (counter = 0 and $2 = 0))`,
    [used.id, used.newCounter],
  );
  return rowCount === 1;
}

async function findPasskey(db: Queryable, id: string): Promise<StoredPasskey | null> {
  const { rows } = await db.query<StoredPasskey>(
    `select passkeys.id, user_id as "userId", email, public_key as "publicKey", counter::float as counter
     from passkeys join users on users.id = user_id where passkeys.id = $1`,
    [id],
  );
  return rows[0] ?? null;
}

async function credentialsOf(db: Queryable, userId: string): Promise<{ id: string }[]> {
  return (await db.query<{ id: string }>("select id from passkeys where user_id = $1 order by created_at", [userId]))
    .rows;
}

function challengeOf(response: AuthenticationResponseJSON): string {
  try {
    return String(JSON.parse(Buffer.from(response.response.clientDataJSON, "base64url").toString()).challenge);
  } catch {
    return "";
  }
}

type Refusal = "unauthorized" | "invalid_request";

function refused(code: Refusal, cause?: unknown): AppError {
  return new AppError(code, {
    publicMessage: "This passkey was not accepted. Try again, or choose another way.",
    cause,
  });
}

/** The library's messages contain what the browser sent. */
function refuse(code: Refusal) {
  return (cause: unknown): never => {
    throw refused(code, cause);
  };
}
