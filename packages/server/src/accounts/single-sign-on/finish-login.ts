import { timingSafeEqual } from "node:crypto";
import { unseenCharacters } from "@emend/contract";
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { AppError } from "../../errors.ts";
import { getJson, providerFault } from "./get-json.ts";
import { type Journey, journeyContext } from "./journey.ts";
import { reasonOf } from "./refusal-reasons.ts";
import type { Identity, LoginDeps } from "./single-sign-on.ts";

interface Return {
  sealed: string | null;
  query: Readonly<Record<string, unknown>>;
  redirectUrl: string;
}

/** Redeems what the browser brought back, and returns who it is. */
export async function finishLogin(
  deps: LoginDeps,
  input: Return,
  signal: AbortSignal,
): Promise<{ identity: Identity; landsOn: string }> {
  const journey = openJourney(deps, input.sealed);
  const { state, code, error } = input.query;
  if (!journey || typeof state !== "string" || !isSame(state, journey.state)) {
    throw refused("This login started in another browser or has expired. Start again.");
  }
  if (typeof code !== "string") throw refused(`The identity provider did not log you in: ${reasonOf(error)}.`);
  const tokens = await redeem(deps, { code, verifier: journey.verifier, redirectUrl: input.redirectUrl }, signal);
  const claims = await verifyIdToken(deps, { idToken: tokens.id_token, nonce: journey.nonce }, signal);
  const about = typeof claims.email === "string" ? claims : await askUserInfo(deps, tokens, claims.sub, signal);
  return { landsOn: journey.landsOn, identity: readIdentity(deps.config.issuer, claims.sub, about) };
}

function openJourney(deps: LoginDeps, sealed: string | null): Journey | null {
  if (sealed === null) return null;
  try {
    const journey: Journey = JSON.parse(deps.sealer.open(Buffer.from(sealed, "base64url"), journeyContext));
    return journey.expiresAtMs > deps.now() ? journey : null;
  } catch {
    // Nothing that was sealed here.
    return null;
  }
}

async function redeem(
  deps: LoginDeps,
  input: { code: string; verifier: string; redirectUrl: string },
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { tokenUrl, takesBasic } = await deps.provider.metadata(signal);
  const { clientId, clientSecret } = deps.config;
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code: input.code,
    redirect_uri: input.redirectUrl,
    code_verifier: input.verifier,
    ...(!takesBasic && { client_id: clientId, client_secret: clientSecret }),
  });
  // As RFC 6749 says: form-encoded first, then base64.
  const pair = [clientId, clientSecret].map((part) => new URLSearchParams({ x: part }).toString().slice(2)).join(":");
  const headers: Record<string, string> = takesBasic
    ? { authorization: `Basic ${Buffer.from(pair).toString("base64")}` }
    : {};
  return getJson(deps.fetch, { url: tokenUrl, form, headers }, signal);
}

/** Some providers tell the address here alone. */
async function askUserInfo(
  deps: LoginDeps,
  tokens: Readonly<Record<string, unknown>>,
  subject: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const { userInfoUrl } = await deps.provider.metadata(signal);
  if (userInfoUrl === null || typeof tokens.access_token !== "string") return {};
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const about = await getJson(deps.fetch, { url: userInfoUrl, headers }, signal);
  if (about.sub !== subject) throw providerFault("it told of another person than it logged in");
  return about;
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refused(publicMessage: string): AppError {
  return new AppError("forbidden", { publicMessage });
}

const nameCodePointsMax = 200;

/** Who it is, of what the provider says of them. An address is judged where somebody is admitted by it. */
function readIdentity(issuer: string, subject: string, about: Readonly<Record<string, unknown>>): Identity {
  const email = typeof about.email === "string" ? about.email : "";
  return {
    id: `${issuer} ${subject}`,
    email,
    isEmailVerified: about.email_verified === true || about.email_verified === "true",
    name: cleanName(about.name) || email,
  };
}

/** One line that shows as it reads and that the database takes: nobody is kept out by how their name is written. */
function cleanName(name: unknown): string {
  if (typeof name !== "string") return "";
  const line = name.toWellFormed().replace(unseenCharacters, "").replace(/\s+/g, " ").trim();
  return [...line].slice(0, nameCodePointsMax).join("").trimEnd();
}

/** Signatures that only the provider can make: never "none", never one by a secret that both sides know. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const clockToleranceSeconds = 60;

/** The claims of a token that this provider signed, for us, now, in answer to this login. */
async function verifyIdToken(
  deps: Pick<LoginDeps, "provider" | "config" | "now">,
  input: { idToken: unknown; nonce: string },
  signal: AbortSignal,
): Promise<JWTPayload & { sub: string }> {
  const { idToken } = input;
  if (typeof idToken !== "string") throw providerFault("it sent no id token");
  const verify = async (keys: JSONWebKeySet) =>
    jwtVerify(idToken, createLocalJWKSet(keys), {
      issuer: deps.config.issuer,
      audience: deps.config.clientId,
      algorithms,
      clockTolerance: clockToleranceSeconds,
      currentDate: new Date(deps.now()),
      requiredClaims: ["sub", "iat", "exp"],
    });
  const { payload } = await deps.provider
    .keys({ isNewest: false }, signal)
    .then(verify)
    .catch(async (error) => {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return verify(await deps.provider.keys({ isNewest: true }, signal));
    })
    .catch((error) => {
      if (error instanceof errors.JOSEError) throw providerFault("its id token does not hold", error);
      throw error;
    });
  if (payload.nonce !== input.nonce) throw providerFault("its id token answers another login");
  if (Array.isArray(payload.aud) && payload.aud.length > 1 && payload.azp !== deps.config.clientId) {
    throw providerFault("its id token was made for somebody else");
  }
  // As the standard has it, and as a key of ours: text that is compared, stored and logged.
  if (typeof payload.sub !== "string" || !/^[ -~]{1,255}$/.test(payload.sub)) {
    throw providerFault("its name for you is not of 1 to 255 ASCII characters");
  }
  return { ...payload, sub: payload.sub };
}
