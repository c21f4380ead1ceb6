import type { Fetch } from "@emend/base/network.ts";
import { type DashboardSettings, unseenCharacters } from "@emend/contract";
import { calculatePKCECodeChallenge, randomNonce, randomPKCECodeVerifier, randomState } from "openid-client";
import { AppError } from "../../errors.ts";
import type { Role } from "../people/user.ts";
import type { Sealer } from "../secrets.ts";
import { createProvider, type Provider } from "./provider.ts";

/** An OpenID Connect provider, from the environment. */
export interface SingleSignOnConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The name on the login page's button. */
  name: string;
  /** People with a verified address of these domains get in without an invitation. Empty: nobody. */
  domains: readonly string[];
  /** Their role. */
  defaultRole: Role;
}

/** A person that the provider has authenticated. */
export interface Identity {
  /** Issuer and subject, which stay the same when the address changes. */
  id: string;
  email: string;
  /** An unverified address identifies nobody. */
  isEmailVerified: boolean;
  name: string;
}

export interface SingleSignOn {
  name: string;
  domains: readonly string[];
  defaultRole: Role;
  /** For the settings page. Contains no secrets. */
  description: NonNullable<DashboardSettings["singleSignOn"]>;
  start(input: Departure): Promise<{ location: string; sealed: string }>;
  /** Throws an AppError for anything that the provider did not confirm for this browser. */
  finish(input: Return): Promise<{ identity: Identity; landsOn: string }>;
  /** The error message goes to the login page encrypted, so that nobody else can put text there. */
  sealWords(words: string): string;
  openWords(sealed: string): string | null;
  /** Only for SAML: our metadata, and what becomes of a posted response. Null for OpenID Connect. */
  saml: { metadata(): string; receive(posted: string): Promise<string> } | null;
}

interface Departure {
  landsOn: string;
  redirectUrl: string;
}

interface Return {
  sealed: string | null;
  query: Readonly<Record<string, unknown>>;
  redirectUrl: string;
}

/** The encrypted state that a browser keeps while it is at the provider. */
interface Journey {
  state: string;
  nonce: string;
  verifier: string;
  landsOn: string;
  expiresAtMs: number;
}

const journeyContext = "single sign-on journey";
const wordsContext = "single sign-on problem";
export const journeyMinutes = 10;

export function createSingleSignOn(
  { fetch, sealer }: { fetch: Fetch; sealer: Sealer },
  config: SingleSignOnConfig,
): SingleSignOn {
  const deps = { sealer, provider: createProvider(fetch, config), issuer: config.issuer };
  const { name, issuer, clientId, domains, defaultRole } = config;
  return {
    name,
    domains,
    defaultRole,
    description: { protocol: "oidc", name, issuer, clientId, domains, defaultRole },
    start: (input) => startLogin(deps, input),
    finish: (input) => finishLogin(deps, input),
    ...wordsOf(sealer),
    saml: null,
  };
}

/** Error messages for the login page. */
export function wordsOf(sealer: Sealer): Pick<SingleSignOn, "sealWords" | "openWords"> {
  return {
    sealWords: (words) => sealer.seal(words, wordsContext).toString("base64url"),
    openWords: (sealed) => openSealed(sealer, sealed, wordsContext),
  };
}

interface LoginDeps {
  provider: Provider;
  sealer: Sealer;
  issuer: string;
}

/** The URL to go to, and the cookie that proves on the way back that it is the same browser. */
async function startLogin(deps: LoginDeps, input: Departure): Promise<{ location: string; sealed: string }> {
  const journey: Journey = {
    state: randomState(),
    nonce: randomNonce(),
    verifier: randomPKCECodeVerifier(),
    landsOn: input.landsOn,
    expiresAtMs: Date.now() + journeyMinutes * 60_000,
  };
  const location = await deps.provider.authorizationUrl({
    redirect_uri: new URL(input.redirectUrl).href,
    scope: "openid email profile",
    state: journey.state,
    nonce: journey.nonce,
    code_challenge: await calculatePKCECodeChallenge(journey.verifier),
    code_challenge_method: "S256",
  });
  return { location, sealed: deps.sealer.seal(JSON.stringify(journey), journeyContext).toString("base64url") };
}

/** Verifies what the browser brought back, and returns the identity. */
async function finishLogin(deps: LoginDeps, input: Return): Promise<{ identity: Identity; landsOn: string }> {
  const opened = input.sealed && openSealed(deps.sealer, input.sealed, journeyContext);
  const journey: Journey | null = opened ? JSON.parse(opened) : null;
  if (!journey || journey.expiresAtMs <= Date.now() || input.query.state !== journey.state) {
    throw otherBrowser();
  }
  const back = new URL(input.redirectUrl);
  for (const [name, value] of Object.entries(input.query)) {
    for (const one of [value].flat()) back.searchParams.append(name, String(one));
  }
  const { state: expectedState, nonce: expectedNonce, verifier: pkceCodeVerifier } = journey;
  const { subject, about } = await deps.provider.redeem(back, { expectedState, expectedNonce, pkceCodeVerifier });
  return { landsOn: journey.landsOn, identity: readIdentity(deps.issuer, subject, about) };
}

export function otherBrowser(): AppError {
  return new AppError("forbidden", {
    publicMessage: "This login started in another browser or has expired. Start again.",
  });
}

/** Null if it was not encrypted here for this purpose. */
export function openSealed(sealer: Sealer, sealed: string, context: string): string | null {
  try {
    return sealer.open(Buffer.from(sealed, "base64url"), context);
  } catch {
    return null;
  }
}

const nameCodePointsMax = 200;

/** The identity from the provider's claims. Whether its address is verified is checked where somebody is admitted. */
function readIdentity(issuer: string, subject: string, about: Readonly<Record<string, unknown>>): Identity {
  const email = typeof about.email === "string" ? about.email : "";
  return {
    id: `${issuer} ${subject}`,
    email,
    isEmailVerified: about.email_verified === true || about.email_verified === "true",
    name: cleanName(about.name) || email,
  };
}

/** One line without invisible characters that the database accepts: nobody is refused because of their name. */
export function cleanName(name: unknown): string {
  if (typeof name !== "string") return "";
  const line = name.toWellFormed().replace(unseenCharacters, "").replace(/\s+/g, " ").trim();
  return [...line].slice(0, nameCodePointsMax).join("").trimEnd();
}
