import { createHash, randomBytes } from "node:crypto";
import type { JSONWebKeySet } from "jose";
import type { Fetch } from "../../lib/network.ts";
import type { Role } from "../people/user.ts";
import type { Sealer } from "../secrets.ts";
import { finishLogin } from "./finish-login.ts";
import { getJson, providerFault } from "./get-json.ts";
import { type Journey, journeyContext, journeyMinutes } from "./journey.ts";

/** An OpenID Connect provider, as the environment names it. */
export interface SingleSignOnConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** What the login page's button calls it. */
  name: string;
  /** Whoever has a verified address of these gets in without an invitation; empty: nobody does. */
  domains: readonly string[];
  /** What they are then. */
  defaultRole: Role;
}

/** Somebody whom the provider vouches for. */
export interface Identity {
  /** The issuer and its subject: what stays the same when an address changes. */
  id: string;
  email: string;
  /** Nobody is known by an address that the provider has not verified. */
  isEmailVerified: boolean;
  name: string;
}

export interface SingleSignOn {
  name: string;
  domains: readonly string[];
  defaultRole: Role;
  /** For the settings page; nothing secret. */
  description: { name: string; issuer: string; clientId: string; domains: readonly string[]; defaultRole: Role };
  start(
    input: { landsOn: string; redirectUrl: string },
    signal: AbortSignal,
  ): Promise<{ location: string; sealed: string }>;
  /** Refuses, with an AppError in words, whatever the provider did not vouch for to this very browser. */
  finish(
    input: { sealed: string | null; query: Readonly<Record<string, unknown>>; redirectUrl: string },
    signal: AbortSignal,
  ): Promise<{ identity: Identity; landsOn: string }>;
  /** What went wrong travels to the login page sealed: nobody else puts words there. */
  sealWords(words: string): string;
  openWords(sealed: string): string | null;
}

interface SingleSignOnDeps {
  fetch: Fetch;
  sealer: Sealer;
  now?: () => number;
}

export function createSingleSignOn(deps: SingleSignOnDeps, config: SingleSignOnConfig): SingleSignOn {
  const now = deps.now ?? Date.now;
  const provider = createProvider({ fetch: deps.fetch, now }, config.issuer);
  const shared = { provider, fetch: deps.fetch, sealer: deps.sealer, config, now };
  const { name, issuer, clientId, domains, defaultRole } = config;
  return {
    name,
    domains,
    defaultRole,
    description: { name, issuer, clientId, domains, defaultRole },
    start: (input, signal) => startLogin(shared, input, signal),
    finish: (input, signal) => finishLogin(shared, input, signal),
    sealWords: (words) => deps.sealer.seal(words, wordsContext).toString("base64url"),
    openWords(sealed) {
      try {
        return deps.sealer.open(Buffer.from(sealed, "base64url"), wordsContext);
      } catch {
        return null;
      }
    },
  };
}

export interface LoginDeps {
  provider: ReturnType<typeof createProvider>;
  fetch: Fetch;
  sealer: Sealer;
  config: SingleSignOnConfig;
  now: () => number;
}

const wordsContext = "single sign-on problem";

/** Where the browser goes, and what it keeps to prove on its way back that it was the one that left. */
async function startLogin(
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

/** What the provider says of itself. */
interface Metadata {
  authorizationUrl: string;
  tokenUrl: string;
  userInfoUrl: string | null;
  keysUrl: string;
  /** How the client proves itself when it redeems a code. */
  takesBasic: boolean;
}

interface Provider {
  metadata(signal: AbortSignal): Promise<Metadata>;
  /** `isNewest` asks again, at most once a minute: a provider may have begun to sign with a key that is not known yet. */
  keys(options: { isNewest: boolean }, signal: AbortSignal): Promise<JSONWebKeySet>;
}

const keptMs = 10 * 60_000;
const askAgainMs = 60_000;

/** Asks when somebody logs in and not at start: an installation must come up while its provider is away. */
function createProvider(deps: { fetch: Fetch; now: () => number }, issuer: string): Provider {
  let described: { value: Metadata; atMs: number } | null = null;
  let published: { value: JSONWebKeySet; atMs: number } | null = null;

  async function metadata(signal: AbortSignal): Promise<Metadata> {
    if (described && deps.now() - described.atMs < keptMs) return described.value;
    const url = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
    const value = parse(await getJson(deps.fetch, { url }, signal), issuer);
    described = { value, atMs: deps.now() };
    return value;
  }

  return {
    metadata,
    async keys({ isNewest }, signal) {
      const ageMs = published ? deps.now() - published.atMs : Number.POSITIVE_INFINITY;
      if (published && ageMs < (isNewest ? askAgainMs : keptMs)) return published.value;
      const { keysUrl } = await metadata(signal);
      const answer = await getJson(deps.fetch, { url: keysUrl }, signal);
      if (!Array.isArray(answer.keys)) throw providerFault("it publishes no keys");
      published = { value: answer as unknown as JSONWebKeySet, atMs: deps.now() };
      return published.value;
    },
  };
}

function parse(document: Readonly<Record<string, unknown>>, issuer: string): Metadata {
  // Another's document would send our people, and the client's secret, elsewhere.
  if (document.issuer !== issuer) throw providerFault("its issuer differs from EMEND_OIDC_ISSUER");
  const url = (name: string): string => {
    const value = document[name];
    const parsed = typeof value === "string" ? URL.parse(value) : null;
    const isSafe = parsed?.protocol === "https:" || parsed?.protocol === new URL(issuer).protocol;
    if (parsed && isSafe) return parsed.href;
    throw providerFault(`its ${name} is missing or not https`);
  };
  const methods = document.token_endpoint_auth_methods_supported;
  return {
    authorizationUrl: url("authorization_endpoint"),
    tokenUrl: url("token_endpoint"),
    userInfoUrl: document.userinfo_endpoint === undefined ? null : url("userinfo_endpoint"),
    keysUrl: url("jwks_uri"),
    // The standard's default, where the provider says nothing.
    takesBasic: !Array.isArray(methods) || methods.includes("client_secret_basic"),
  };
}
