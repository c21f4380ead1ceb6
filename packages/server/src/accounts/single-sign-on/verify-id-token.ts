import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from "jose";
import { providerFault } from "./get-json.ts";
import type { LoginDeps } from "./single-sign-on.ts";

/** Signatures that only the provider can make: never "none", never one by a secret that both sides know. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const clockToleranceSeconds = 60;

/** The claims of a token that this provider signed, for us, now, in answer to this login. */
export async function verifyIdToken(
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
