import { type Fetch, readBody } from "@emend/base/network.ts";
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

interface ProviderConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** An OpenID Connect provider. Only what openid-client verifies is trusted. */
export interface Provider {
  authorizationUrl(parameters: Readonly<Record<string, string>>): Promise<string>;
  /** Exchanges the authorization code for the person's claims. */
  redeem(
    back: URL,
    checks: { expectedState: string; expectedNonce: string; pkceCodeVerifier: string },
  ): Promise<{ subject: string; about: Readonly<Record<string, unknown>> }>;
}

const keptMs = 10 * 60_000;
const askSecondsMax = 10;
const answerBytesMax = 1024 * 1024;
const clockToleranceSeconds = 60;

/** Contacts the provider at login, not at startup: an installation must start while its provider is unavailable. */
export function createProvider(fetch: Fetch, config: ProviderConfig): Provider {
  const open = keepFor(() => discover(fetch, config));

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
      // Valid by the standard, and safe as a key of ours: it is compared, stored and logged.
      if (!claims || !/^[ -~]{1,255}$/.test(claims.sub)) {
        throw providerFault("its name for you is not of 1 to 255 ASCII characters");
      }
      const subject = claims.sub;
      // Some providers return the address only in their user info.
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

/** Keeps a result for ten minutes, and no failure. */
export function keepFor<T>(read: () => Promise<T>): () => Promise<T> {
  let known: { value: Promise<T>; untilMs: number } | null = null;
  return () => {
    if (known && Date.now() < known.untilMs) return known.value;
    const opened = { value: read(), untilMs: Date.now() + keptMs };
    known = opened;
    opened.value.catch(() => {
      if (known === opened) known = null;
    });
    return opened.value;
  };
}

async function discover(fetch: Fetch, { issuer, clientId, clientSecret }: ProviderConfig): Promise<Configuration> {
  const server = new URL(issuer);
  const client = await believed("its discovery document is not valid", () =>
    discovery(server, clientId, { [clockTolerance]: clockToleranceSeconds }, authentication(clientSecret), {
      [customFetch]: boundedFetch(fetch),
      timeout: askSecondsMax,
      execute: [
        // Otherwise an ID token would be trusted because it came over TLS. Signatures with a shared secret are refused.
        enableNonRepudiationChecks,
        // Plain HTTP only for a provider on this machine; the configuration enforces that.
        ...(server.protocol === "http:" ? [allowInsecureRequests] : []),
      ],
    }),
  );
  // Another issuer's document could send people and the client secret elsewhere. The library allows exceptions; we do
  // not.
  if (client.serverMetadata().issuer !== issuer) throw providerFault("its issuer differs from EMEND_OIDC_ISSUER");
  return client;
}

/** All providers must accept Basic, but some, Google among them, do not decode it as the standard says. */
function authentication(clientSecret: string): ClientAuth {
  const [post, basic] = [ClientSecretPost(clientSecret), ClientSecretBasic(clientSecret)];
  return (server, ...request) =>
    server.token_endpoint_auth_methods_supported?.includes("client_secret_post")
      ? post(server, ...request)
      : basic(server, ...request);
}

/** The server's fetch, with a size limit. The library limits the time and follows no redirects. */
export function boundedFetch(fetch: Fetch) {
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

/** Turns the library's errors into our messages. */
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

/** The provider's response cannot be trusted for a login. */
export function providerFault(what: string, cause?: unknown): AppError {
  return new AppError("forbidden", { publicMessage: `The identity provider was not believed: ${what}.`, cause });
}

/** Error codes of OAuth and OpenID Connect, in our words. */
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

/** Never the code itself if it is unknown: it comes from a URL that anybody can write. */
function reasonOf(code: unknown): string {
  const known = typeof code === "string" && Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  return known ?? "it gave no reason that is known here";
}
