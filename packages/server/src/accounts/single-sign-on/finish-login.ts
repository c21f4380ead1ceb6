import { timingSafeEqual } from "node:crypto";
import { AppError } from "../../errors.ts";
import { getJson, providerFault } from "./get-json.ts";
import { type Journey, journeyContext } from "./journey.ts";
import { readIdentity } from "./read-identity.ts";
import { reasonOf } from "./refusal-reasons.ts";
import type { Identity, LoginDeps } from "./single-sign-on.ts";
import { verifyIdToken } from "./verify-id-token.ts";

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
