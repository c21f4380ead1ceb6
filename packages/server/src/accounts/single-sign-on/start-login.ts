import { createHash, randomBytes } from "node:crypto";
import { type Journey, journeyContext, journeyMinutes } from "./journey.ts";
import type { LoginDeps } from "./single-sign-on.ts";

/** Where the browser goes, and what it keeps to prove on its way back that it was the one that left. */
export async function startLogin(
  deps: LoginDeps,
  input: { landsOn: string; redirectUrl: string },
  signal: AbortSignal,
): Promise<{ location: string; sealed: string }> {
  const { authorizationUrl } = await deps.provider.metadata(signal);
  const journey: Journey = {
    state: chance(),
    nonce: chance(),
    verifier: chance(),
    landsOn: input.landsOn,
    expiresAtMs: deps.now() + journeyMinutes * 60_000,
  };
  const location = new URL(authorizationUrl);
  const asked = {
    response_type: "code",
    client_id: deps.config.clientId,
    redirect_uri: input.redirectUrl,
    scope: "openid email profile",
    state: journey.state,
    nonce: journey.nonce,
    code_challenge: createHash("sha256").update(journey.verifier).digest("base64url"),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(asked)) location.searchParams.set(name, value);
  const sealed = deps.sealer.seal(JSON.stringify(journey), journeyContext).toString("base64url");
  return { location: location.href, sealed };
}

function chance(): string {
  return randomBytes(32).toString("base64url");
}
