import type { JSONWebKeySet } from "jose";
import type { Fetch } from "../../lib/network.ts";
import { getJson, providerFault } from "./get-json.ts";

/** What the provider says of itself. */
interface Metadata {
  authorizationUrl: string;
  tokenUrl: string;
  userInfoUrl: string | null;
  keysUrl: string;
  /** How the client proves itself when it redeems a code. */
  takesBasic: boolean;
}

export interface Provider {
  metadata(signal: AbortSignal): Promise<Metadata>;
  /** `isNewest` asks again, at most once a minute: a provider may have begun to sign with a key that is not known yet. */
  keys(options: { isNewest: boolean }, signal: AbortSignal): Promise<JSONWebKeySet>;
}

const keptMs = 10 * 60_000;
const askAgainMs = 60_000;

/** Asks when somebody logs in and not at start: an installation must come up while its provider is away. */
export function createProvider(deps: { fetch: Fetch; now: () => number }, issuer: string): Provider {
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
