import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { AppError, isAppError } from "../../errors.ts";
import { type Fetch, readBody } from "../../lib/network.ts";

interface ProviderConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** An OpenID Connect provider. What it says is believed only as openid-client verifies it. */
export interface Provider {
  authorizationUrl(parameters: Readonly<Record<string, string>>): Promise<string>;
  /** Exchanges the code that a browser came back with, to `back`, for claims about who logged in. */
  redeem(
    back: URL,
    checks: { expectedState: string; expectedNonce: string; pkceCodeVerifier: string },
  ): Promise<{ subject: string; about: Readonly<Record<string, unknown>> }>;
}

const keptMs = 10 * 60_000;
const askSecondsMax = 10;
const answerBytesMax = 1024 * 1024;
const clockToleranceSeconds = 60;

/** Asks when somebody logs in and not at start: an installation must come up while its provider is away. */
export function createProvider(fetch: Fetch, config: ProviderConfig): Provider {
  let known: { client: Promise<Configuration>; untilMs: number } | null = null;

  function open(): Promise<Configuration> {
    if (known && Date.now() < known.untilMs) return known.client;
    const client = discover(fetch, config);
    const opened = { client, untilMs: Date.now() + keptMs };
    known = opened;
    client.catch(() => {
      if (known === opened) known = null;
    });
    return client;
  }

  return {
    async authorizationUrl(parameters) {
      const client = await open();
      return believed("its discovery document is not valid", () => buildAuthorizationUrl(client, parameters).href);
    },
    async redeem(back, checks) {
      const client = await open();
      const tokens = await believed("its answer to this login is not valid", () =>
        authorizationCodeGrant(client, back, { ...checks, idTokenExpected: true }),
      );
      const claims = tokens.claims();
      // As the standard has it, and as a key of ours: text that is compared, stored and logged.
      if (!claims || !/^[ -~]{1,255}$/.test(claims.sub)) {
        throw providerFault("its name for you is not of 1 to 255 ASCII characters");
      }
      const subject = claims.sub;
      // Some providers tell the address in their user info alone.
      if (typeof claims.email === "string" || !client.serverMetadata().userinfo_endpoint) {
        return { subject, about: claims };
      }
      const about = await believed("its user info is not valid, or of another person", () =>
        fetchUserInfo(client, tokens.access_token, subject),
      );
      return { subject, about };
    },
  };
}

async function discover(fetch: Fetch, { issuer, clientId, clientSecret }: ProviderConfig): Promise<Configuration> {
  const server = new URL(issuer);
  const client = await believed("its discovery document is not valid", () =>
    discovery(server, clientId, { [clockTolerance]: clockToleranceSeconds }, authentication(clientSecret), {
      [customFetch]: boundedFetch(fetch),
      timeout: askSecondsMax,
      execute: [
        // Else an ID token is believed for having come by TLS. Signatures by a secret that both sides know are refused.
        enableNonRepudiationChecks,
        // Plain HTTP is for a provider on this very machine: the configuration has made sure.
        ...(server.protocol === "http:" ? [allowInsecureRequests] : []),
      ],
    }),
  );
  // Another's document would send our people, and the client's secret, elsewhere. The library has exceptions; we have none.
  if (client.serverMetadata().issuer !== issuer) throw providerFault("its issuer differs from EMEND_OIDC_ISSUER");
  return client;
}

/** Basic is what all must take; but not all, Google among them, decode what the standard has encoded in it. */
function authentication(clientSecret: string): ClientAuth {
  const [post, basic] = [ClientSecretPost(clientSecret), ClientSecretBasic(clientSecret)];
  return (server, ...request) =>
    server.token_endpoint_auth_methods_supported?.includes("client_secret_post")
      ? post(server, ...request)
      : basic(server, ...request);
}

/** The server's own fetch, for the library: bounded in size; the library bounds the time and follows no redirect. */
function boundedFetch(fetch: Fetch) {
  return async (
    url: string,
    init: { method: string; headers: Record<string, string>; body?: unknown; signal?: AbortSignal },
  ) => {
    const { method, headers, body, signal = AbortSignal.timeout(askSecondsMax * 1000) } = init;
    try {
      const sent = body === undefined || body === null ? {} : { body: String(body) };
      const answer = await fetch(url, { method, headers, ...sent, redirect: "manual", signal });
      const bytes = await readBody(answer.body, answerBytesMax);
      return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
        status: answer.status,
        headers: [...answer.headers],
      });
    } catch (cause) {
      throw new AppError("unavailable", {
        publicMessage: "Can't reach the identity provider. Try again in a moment.",
        message: "identity provider not reached",
        retryAfterMs: 5_000,
        cause,
      });
    }
  };
}

/** Whatever the library refuses is a refusal in our words. */
async function believed<T>(otherwise: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { cause } = error as Error;
    if (isAppError(cause)) throw cause;
    if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
      throw notLoggedIn(error.error);
    if (error instanceof WWWAuthenticateChallengeError) throw notLoggedIn("invalid_client");
    if (cause instanceof Response && cause.status !== 200) throw providerFault(`it answered ${cause.status}`, error);
    throw providerFault(otherwise, error);
  }
}

function notLoggedIn(code: unknown): AppError {
  return new AppError("forbidden", { publicMessage: `The identity provider did not log you in: ${reasonOf(code)}.` });
}

/** The provider did something that no login may rest on. */
function providerFault(what: string, cause?: unknown): AppError {
  return new AppError("forbidden", { publicMessage: `The identity provider was not believed: ${what}.`, cause });
}

/** The codes of OAuth and OpenID Connect, in our words. */
const reasons: Readonly<Record<string, string>> = {
  access_denied: "access was denied or cancelled",
  account_selection_required: "it asks you to choose an account first",
  consent_required: "it asks for your consent first",
  interaction_required: "it asks something of you first",
  invalid_client: "it does not know the client id and secret that are configured",
  invalid_grant: "the login was already used or has expired",
  invalid_request: "it did not understand the request",
  invalid_scope: "it does not tell email addresses to this client",
  login_required: "it asks you to log in there first",
  server_error: "it has an internal error",
  temporarily_unavailable: "it is busy; try again in a moment",
  unauthorized_client: "the client that is configured may not do this",
  unsupported_response_type: "it does not offer the authorization code flow",
};

/** Never the code itself where it is not one of these: it comes by an address that anybody may have written. */
function reasonOf(code: unknown): string {
  const known = typeof code === "string" && Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  return known ?? "it gave no reason that is known here";
}
