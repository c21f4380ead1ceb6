import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { boundedFetch, KnowledgeFault } from "./bounded-fetch.ts";

/** What Emend holds of its access to a server by OAuth. JSON, and secret. */
export interface KnowledgeGrant {
  client?: StoredOAuthClientInformation;
  tokens?: StoredOAuthTokens;
  /** When the access token ends, if the server says so. */
  endsAtMs?: number;
  discovery?: OAuthDiscoveryState;
  /** The proof that belongs to the person's answer (PKCE). */
  verifier?: string;
  scope?: string;
}

/** How Emend presents itself to authorization servers. */
export interface GrantClient {
  /** Where the person's browser brings the answer. */
  returnUrl: string;
  /** Where servers read who Emend is. Only an https address can name a client. */
  url: string;
}

interface GrantInput {
  /** The server's. */
  url: string;
  fetch: typeof globalThis.fetch;
  client: GrantClient;
}

/** The server gives no more access: a person must connect it again. */
export class ConnectionNeeded extends KnowledgeFault {
  constructor(options?: ErrorOptions) {
    super("must be connected again", options);
    this.name = "ConnectionNeeded";
  }
}

const requestMsMax = 20_000;

/** The document that servers read about Emend, and that it registers with. */
export function describeClient({ returnUrl }: Pick<GrantClient, "returnUrl">) {
  return {
    client_name: "Emend",
    redirect_uris: [returnUrl],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
}

/** Asks which address a person must open, so that Emend gets access. `state` comes back with the answer. */
export async function askForGrant(
  input: GrantInput & { state: string; registered?: { id: string; secret: string | null } | undefined },
): Promise<{ grant: KnowledgeGrant; location: string }> {
  const { registered, state } = input;
  const grant: KnowledgeGrant = {};
  if (registered) {
    grant.client = {
      client_id: registered.id,
      ...(registered.secret !== null && { client_secret: registered.secret }),
    };
  }
  return inWords("could not be connected", async () => {
    const { auth, extractWWWAuthenticateParams } = await import("@modelcontextprotocol/client");
    const fetchFn = boundedRequest(input.fetch);
    // A server says in its refusal where its metadata is, and which rights it asks for.
    const refusal = await fetchFn(input.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    await refusal.body?.cancel();
    const { resourceMetadataUrl, scope } = refusal.status === 401 ? extractWWWAuthenticateParams(refusal) : {};
    if (scope !== undefined) grant.scope = scope;
    let location: URL | undefined;
    const provider = providerOf(grant, input.client, {
      state: () => state,
      redirectToAuthorization(address) {
        location = address;
      },
    });
    await auth(provider, {
      serverUrl: input.url,
      fetchFn,
      ...rights(grant),
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
    });
    if (!location || !/^https?:$/.test(location.protocol)) throw new KnowledgeFault("names no page for people");
    return { grant, location: location.href };
  });
}

/** Turns a person's answer into access. `issuer`: as the answer names it. */
export async function redeemCode(
  input: GrantInput & { grant: KnowledgeGrant; code: string; issuer: string | undefined },
): Promise<KnowledgeGrant> {
  const grant = { ...input.grant };
  return inWords("did not accept the answer", async () => {
    const { auth } = await import("@modelcontextprotocol/client");
    const given = { authorizationCode: input.code, ...(input.issuer !== undefined && { iss: input.issuer }) };
    const provider = providerOf(grant, input.client);
    await auth(provider, { serverUrl: input.url, fetchFn: boundedRequest(input.fetch), ...rights(grant), ...given });
    delete grant.verifier;
    return grant;
  });
}

/** New tokens without a person. The server may replace the token that renews, too. */
export async function renewGrant({ fetch, grant }: Omit<GrantInput, "url" | "client"> & { grant: KnowledgeGrant }) {
  const { client, discovery, tokens } = grant;
  if (!client || !discovery || tokens?.refresh_token === undefined) throw new ConnectionNeeded();
  const refreshToken = tokens.refresh_token;
  return inWords("could not renew its access now", async () => {
    const { OAuthError, OAuthErrorCode, refreshAuthorization } = await import("@modelcontextprotocol/client");
    // It no longer knows the token, or Emend.
    const ends: readonly string[] = [
      OAuthErrorCode.InvalidGrant,
      OAuthErrorCode.InvalidClient,
      OAuthErrorCode.UnauthorizedClient,
    ];
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery;
    const renewed = await refreshAuthorization(authorizationServerUrl, {
      clientInformation: client,
      refreshToken,
      fetchFn: boundedRequest(fetch),
      ...(metadata && { metadata }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
    }).catch((error) => {
      if (error instanceof OAuthError && ends.includes(error.code)) throw new ConnectionNeeded({ cause: error });
      throw error;
    });
    return withTokens(grant, { ...tokens, ...renewed });
  });
}

function withTokens({ endsAtMs: _, ...grant }: KnowledgeGrant, tokens: StoredOAuthTokens): KnowledgeGrant {
  const { expires_in: seconds } = tokens;
  return { ...grant, tokens, ...(seconds !== undefined && { endsAtMs: Date.now() + seconds * 1_000 }) };
}

/** The library's view of a grant, which it changes. */
function providerOf(
  grant: KnowledgeGrant,
  client: GrantClient,
  more: Partial<OAuthClientProvider> = {},
): OAuthClientProvider {
  return {
    redirectUrl: client.returnUrl,
    clientMetadata: describeClient(client),
    ...(client.url.startsWith("https:") && { clientMetadataUrl: client.url }),
    // The library warns about a client that does not say whose it is, as one that was registered by hand.
    clientInformation: (about) => grant.client && { ...about, ...grant.client },
    saveClientInformation: (client) => void Object.assign(grant, { client }),
    tokens: () => grant.tokens,
    saveTokens: (saved) => void Object.assign(grant, withTokens(grant, saved)),
    saveCodeVerifier: (verifier) => void Object.assign(grant, { verifier }),
    codeVerifier: () => grant.verifier ?? "",
    saveDiscoveryState: (discovery) => void Object.assign(grant, { discovery }),
    discoveryState: () => grant.discovery,
    redirectToAuthorization() {
      throw new KnowledgeFault("asks for a person");
    },
    ...more,
  };
}

function rights({ scope }: KnowledgeGrant): { scope?: string } {
  return scope === undefined ? {} : { scope };
}

function boundedRequest(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  const clock = AbortSignal.timeout(requestMsMax);
  const bounded = boundedFetch(fetch, () => {});
  return (input, init) => bounded(input, { ...init, signal: clock });
}

/** A fault in Emend's own words: the library's may contain the server's text. */
async function inWords<T>(words: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    for (let one: unknown = error; one instanceof Error; one = one.cause) {
      if (one instanceof KnowledgeFault) throw one;
      if (one.name === "AddressRefused") throw new KnowledgeFault("is on a private network", { cause: error });
      if (one.name === "TimeoutError") throw new KnowledgeFault("did not answer in time", { cause: error });
    }
    throw new KnowledgeFault(words, { cause: error });
  }
}
