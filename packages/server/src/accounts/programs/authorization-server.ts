import { generateKeyPairSync } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "@emend/base/logger.ts";
import { unseenCharacters } from "@emend/contract";
import type { Interaction, Provider } from "oidc-provider";
import type { Pool } from "../../db/pool.ts";
import { type Actor, asActor } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { createKey, newKey } from "../keys/api-keys.ts";
import { createOauthRecords } from "./oauth-records.ts";

/** What a program asks a person for. Its name is its own claim; the hosts are facts. */
interface ConsentRequest {
  id: string;
  name: string;
  clientHost: string;
  /** Where the answer goes. */
  returnsTo: string;
  scope: ProgramScope;
}

type ProgramScope = "read" | "write";

/** OAuth 2.1 for programs: people consent in the dashboard instead of copying keys. */
export interface AuthorizationServer {
  /** The library's own routes: below `/oauth`, and its metadata. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** What this browser was asked. Null: nothing, or it expired. */
  asked(request: IncomingMessage, response: ServerResponse): Promise<ConsentRequest | null>;
  /** Both return the address where the browser goes on. `id` is the request that the person saw. */
  consent(
    request: IncomingMessage,
    response: ServerResponse,
    input: { id: string; projectId: string; scope: ProgramScope; userId: string; by: Actor },
  ): Promise<string>;
  deny(request: IncomingMessage, response: ServerResponse, id: string): Promise<string>;
}

export interface AuthorizationServerDeps {
  pool: Pool;
  publicUrl(): string;
  /** Behind an SSRF guard: whoever asks names the address. */
  fetch: typeof fetch;
  log: Logger;
  /** Shows an error to the person who was sent here. */
  errorPage(what: string): string;
}

export const oauthScopes = ["read", "write"] as const;
export const oauthPaths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  revocation: "/oauth/revoke",
  jwks: "/oauth/jwks",
} as const;
const minute = 60;
const day = 24 * 60 * minute;
/** The library's own 2.5 s are short for a name that must be resolved first. */
const askMsMax = 10_000;
/** A connection ends after a year, or after a month in which the program did not renew its token. */
const seconds = {
  request: 10 * minute,
  code: minute,
  accessToken: 60 * minute,
  unused: 30 * day,
  connection: 365 * day,
};

export function createAuthorizationServer(deps: AuthorizationServerDeps): AuthorizationServer {
  // Made by the first request: the library takes a moment to load, and most installations never use it.
  let made: Promise<Provider> | undefined;
  const provider = () => (made ??= createProvider(deps));

  /** The browser's request for consent, if its cookie names one. */
  async function interactionOf(request: IncomingMessage, response: ServerResponse): Promise<Interaction | null> {
    const { errors } = await import("oidc-provider");
    return (await provider()).interactionDetails(request, response).catch((error) => {
      if (error instanceof errors.SessionNotFound) return null;
      throw error;
    });
  }

  /** Another program may have asked meanwhile: only what the person saw is answered. */
  async function sameInteraction(request: IncomingMessage, response: ServerResponse, id: string): Promise<Interaction> {
    const interaction = await interactionOf(request, response);
    if (interaction?.uid === id) return interaction;
    throw new AppError("conflict", {
      publicMessage: "This request has expired, or another program asked meanwhile. Connect the program again.",
    });
  }

  return {
    async answer(request, response) {
      await (await provider()).callback()(request, response);
    },
    async asked(request, response) {
      const interaction = await interactionOf(request, response);
      if (!interaction) return null;
      const { clientId, returnsTo, scope } = readParams(interaction);
      const name = await nameOf(await provider(), clientId);
      return { id: interaction.uid, name, clientHost: hostOf(clientId), returnsTo: hostOf(returnsTo), scope };
    },
    async consent(request, response, { id, projectId, scope, userId, by }) {
      const interaction = await sameInteraction(request, response, id);
      const asked = readParams(interaction);
      if (scope === "write" && asked.scope === "read") {
        throw new AppError("invalid_request", { publicMessage: "The program asked to read only." });
      }
      const { clientId } = asked;
      const server = await provider();
      const outcome = await createKey(asActor(deps.pool, by), {
        name: await nameOf(server, clientId),
        projectIds: [projectId],
        scope,
        expiresInMs: seconds.connection * 1000,
        allowList: null,
        createdBy: by.name,
        program: { userId, clientId },
      });
      if (outcome.kind === "unknown_project") throw new AppError("not_found", { publicMessage: "Project not found." });
      const grant = new server.Grant({ accountId: userId, clientId });
      grant.jti = outcome.id;
      const resource = resourceOf(deps.publicUrl());
      grant.addResourceScope(resource, scope === "write" ? "read write" : "read");
      // Answered as well: the person would be asked again otherwise.
      if (scope === "read") grant.rejectResourceScope(resource, "write");
      await grant.save();
      return server.interactionResult(request, response, {
        login: { accountId: userId, remember: false },
        consent: { grantId: outcome.id },
      });
    },
    async deny(request, response, id) {
      await sameInteraction(request, response, id);
      const result = { error: "access_denied", error_description: "The person refused." };
      return (await provider()).interactionResult(request, response, result);
    },
  };
}

/** The protected resource: what tokens are for (RFC 8707). */
export function resourceOf(publicUrl: string): string {
  return `${publicUrl}/mcp`;
}

function readParams({ params }: Interaction): { clientId: string; returnsTo: string; scope: ProgramScope } {
  const text = (name: string) => (typeof params[name] === "string" ? params[name] : "");
  const scope = text("scope").split(" ").includes("write") ? "write" : "read";
  return { clientId: text("client_id"), returnsTo: text("redirect_uri"), scope };
}

/** `cursor:` for a program's own scheme. */
function hostOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed?.host || parsed?.protocol || "";
}

/** One line, as a key's name must be. */
async function nameOf(provider: Provider, clientId: string): Promise<string> {
  const client = await provider.Client.find(clientId);
  const claimed = (client?.clientName ?? "").replace(unseenCharacters, "").replace(/\s+/g, " ").trim();
  return [...claimed].slice(0, 100).join("").trimEnd() || hostOf(clientId);
}

async function createProvider({ pool, publicUrl, fetch, log, errorPage }: AuthorizationServerDeps): Promise<Provider> {
  const { errors, Provider } = await import("oidc-provider");
  const issuer = publicUrl();
  const { protocol, pathname } = new URL(issuer);
  const isSecure = protocol === "https:";
  const cookie = { httpOnly: true, sameSite: "lax", secure: isSecure, signed: false } as const;
  // As the session's cookie: no page of a neighbouring domain can set it. That prefix needs the root path.
  const cookieName = (name: string, prefix = "__Host-") => (isSecure ? `${prefix}emend-${name}` : `emend_${name}`);
  const resource = resourceOf(issuer);

  const provider = new Provider(issuer, {
    adapter: createOauthRecords(pool, () => new errors.InvalidGrant("used before")),
    // Signs nothing: there are no ID tokens. The library must have one.
    jwks: { keys: [generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }) as never] },
    routes: oauthPaths,
    scopes: [],
    responseTypes: ["code"],
    clientAuthMethods: ["none", "private_key_jwt"],
    pkce: { required: () => true },
    clientDefaults: {
      // Programs on a person's machine, which choose a port when they start.
      application_type: "native",
      token_endpoint_auth_method: "none",
      id_token_signed_response_alg: "ES256",
      grant_types: ["authorization_code", "refresh_token"],
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      clientIdMetadataDocument: {
        enabled: true,
        ack: "draft-02",
        // Below /oauth/authorize a person is logged in. Others may only name what somebody connected before.
        allowFetch: async (ctx, clientId) =>
          !ctx || ctx.path.startsWith(oauthPaths.authorization) || (await isConnected(pool, clientId)),
        cacheDuration: { min: seconds.request, max: day },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo(_ctx, asked) {
          if (asked !== resource) throw new errors.InvalidTarget(`tokens are for ${resource}`);
          return { scope: oauthScopes.join(" "), accessTokenFormat: "opaque", accessTokenTTL: seconds.accessToken };
        },
      },
    },
    cookies: {
      names: {
        interaction: cookieName("ask"),
        resume: cookieName("resume", "__Secure-"),
        session: cookieName("oauth"),
      },
      short: { ...cookie, path: isSecure ? "/" : pathname },
      long: { ...cookie, path: isSecure ? "/" : pathname },
    },
    ttl: {
      Session: seconds.request,
      Interaction: seconds.request,
      AuthorizationCode: seconds.code,
      AccessToken: seconds.accessToken,
      RefreshToken: seconds.unused,
      Grant: seconds.connection,
    },
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    clientBasedCORS: () => false,
    fetch: (address, init) => fetch(address, { ...init, signal: AbortSignal.timeout(askMsMax) } as RequestInit),
    interactions: { url: () => `${issuer}/app/connect` },
    async findAccount(_ctx, id) {
      const { rowCount } = await pool.query("select 1 from users where id = $1", [id]);
      return rowCount === 0 ? undefined : { accountId: id, claims: async () => ({ sub: id }) };
    },
    async renderError(ctx, { error, error_description }) {
      ctx.type = "html";
      ctx.body = errorPage(error_description ?? error);
    },
  });
  provider.on("server_error", (_ctx, err) => log.error({ err }, "authorization request failed"));
  // A token has the form of a key: every check and scanner that knows keys knows it.
  Object.assign(provider.AccessToken.prototype, {
    generateTokenId(this: { format?: string }) {
      this.format = "opaque";
      return newKey().text;
    },
  });
  return provider;
}

async function isConnected(pool: Pool, clientId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    "select 1 from admin_keys where client_id = $1 and revoked_at is null limit 1",
    [clientId],
  );
  return rowCount !== 0;
}
