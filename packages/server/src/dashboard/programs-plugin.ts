import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import type { ByteBudget } from "@emend/base/byte-budget.ts";
import type { Logger } from "@emend/base/logger.ts";
import type { DashboardConsent } from "@emend/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { isAtLeast } from "../accounts/people/user.ts";
import {
  type AuthorizationServer,
  oauthPaths,
  oauthScopes,
  resourceOf,
} from "../accounts/programs/authorization-server.ts";
import type { Sessions } from "../accounts/sessions/sessions.ts";
import { AppError } from "../errors.ts";
import { aboutRequest } from "../http/errors.ts";
import { readJsonBodies } from "../http/request-body.ts";
import { requestId } from "../lib/id.ts";
import { bodyParser } from "./parse-request.ts";
import { actorOf, currentSession, requireSession } from "./require-session.ts";

export interface ProgramsDeps {
  server: AuthorizationServer;
  sessions: Sessions;
  log: Logger;
  /** The memory budget for bodies of people who are not logged in. */
  unknownBytes: ByteBudget;
  publicUrl(): string;
}

const bodyBytesMax = 16 * 1024;
const Id = Type.String({ pattern: "^[0-9A-Za-z_-]{1,64}$" });
const parseConsent = bodyParser(Type.Object({ id: Id, projectId: Id, scope: Type.Enum(["read", "write"] as const) }));
const parseRefusal = bodyParser(Type.Object({ id: Id }));

/**
 * OAuth for programs that use `/mcp`: its metadata, the authorization server's routes, and the consent page's API.
 * Nothing is asked of a program's address before a person is logged in.
 */
export function programsPlugin(deps: ProgramsDeps): (app: FastifyInstance) => Promise<void> {
  return async (app) => {
    app.register(async (open) => metadataRoutes(open, deps));
    app.register(async (open) => libraryRoutes(open, deps));
    app.register(async (closed) => consentRoutes(closed, deps), { prefix: "/dashboard/api", bodyLimit: bodyBytesMax });
  };
}

/** Where a program learns which server gives tokens for `/mcp` (RFC 9728). */
function metadataRoutes(app: FastifyInstance, deps: ProgramsDeps): void {
  for (const path of ["", "/mcp"]) {
    app.get(`/.well-known/oauth-protected-resource${path}`, async (_request, reply) =>
      reply.header("access-control-allow-origin", "*").send({
        resource: resourceOf(deps.publicUrl()),
        authorization_servers: [deps.publicUrl()],
        scopes_supported: oauthScopes,
        bearer_methods_supported: ["header"],
        resource_name: "Emend",
      }),
    );
  }
}

function libraryRoutes(app: FastifyInstance, deps: ProgramsDeps): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "*",
    (_request: FastifyRequest, payload: Readable, done: (error: null, body: Readable) => void) => done(null, payload),
  );
  app.addHook("preParsing", async (request, reply, payload) => {
    if (request.method !== "POST") return payload;
    const body = deps.unknownBytes.spend(payload as Readable, reply.raw, () => {
      const publicMessage = "Too many requests at once. Try again in a moment.";
      return new AppError("unavailable", { publicMessage, retryAfterMs: 5_000 });
    });
    // The library may refuse a request without reading its body.
    return body.on("error", () => {});
  });
  const options = { exposeHeadRoute: false };
  const hand = async (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack();
    const { raw } = reply;
    raw.setHeader("x-request-id", requestId(request.raw));
    raw.setHeader("referrer-policy", "no-referrer");
    raw.setHeader("x-frame-options", "DENY");
    raw.setHeader("content-security-policy", "default-src 'none'; frame-ancestors 'none'");
    await deps.server.answer(asSeenByClients(request, deps.publicUrl()), raw).catch((error) => {
      deps.log.error({ err: error, ...aboutRequest(request) }, "authorization request failed");
      raw.destroy();
    });
  };

  app.get("/.well-known/oauth-authorization-server", options, hand);
  app.get("/.well-known/openid-configuration", options, hand);
  app.get(oauthPaths.jwks, options, hand);
  app.post(oauthPaths.token, hand);
  app.post(oauthPaths.revocation, hand);
  app.get(`${oauthPaths.authorization}/:id`, options, hand);
  app.get(oauthPaths.authorization, options, async (request, reply) => {
    const { search, searchParams } = new URL(request.raw.url ?? "", "http://emend.internal");
    const session = await deps.sessions.find(request.headers.cookie);
    // The page asks for the login, and comes back.
    if (!session) {
      const back = new URLSearchParams({ to: search.slice(1) });
      return reply.redirect(`${deps.publicUrl()}/app/connect?${back}`, 303);
    }
    // Other rights do not exist. A program that names none gets the choice of all.
    const asked = (searchParams.get("scope") ?? "").split(" ");
    const known = oauthScopes.filter((scope) => asked.includes(scope));
    searchParams.set("scope", (known.length > 0 ? known : oauthScopes).join(" "));
    request.raw.url = `${oauthPaths.authorization}?${searchParams}`;
    return hand(request, reply);
  });
}

/** The request with its body, at the public URL: the library makes addresses from the host that it sees. */
function asSeenByClients(request: FastifyRequest, publicUrl: string): IncomingMessage {
  const { host, pathname } = new URL(publicUrl);
  const { method, url = "", headers, socket } = request.raw;
  const body = request.body instanceof Readable ? request.body : Readable.from([]);
  const seen = { method, url, headers: { ...headers, host }, httpVersionMajor: 1, httpVersionMinor: 1 };
  return Object.assign(body, seen, {
    originalUrl: `${pathname.replace(/\/$/, "")}${url}`,
    socket: { encrypted: publicUrl.startsWith("https:"), remoteAddress: socket.remoteAddress } as unknown as Socket,
  }) as unknown as IncomingMessage;
}

function consentRoutes(app: FastifyInstance, deps: ProgramsDeps): void {
  readJsonBodies(app);
  app.addHook("onRequest", requireSession(deps));
  // Viewers connect programs that read.
  const byAnyone = { config: { role: "viewer" } } as const;

  app.get("/connect", async (request, reply): Promise<DashboardConsent> => {
    const asked = await deps.server.asked(request.raw, reply.raw);
    return { asked: asked && { ...asked, mayWrite: isAtLeast(currentSession(request).role, "maintainer") } };
  });

  app.post("/connect", byAnyone, async (request, reply) => {
    const { userId, role } = currentSession(request);
    const input = parseConsent(request.body);
    if (userId === null) {
      throw new AppError("conflict", {
        publicMessage:
          "A login link of the console opened this session. A program connects to a person: log in as one.",
      });
    }
    if (input.scope === "write" && !isAtLeast(role, "maintainer")) {
      throw new AppError("forbidden", { publicMessage: "Viewers can connect programs that read only." });
    }
    const by = actorOf(request);
    return { location: await deps.server.consent(request.raw, reply.raw, { ...input, userId, by }) };
  });

  app.post("/connect/refuse", byAnyone, async (request, reply) => ({
    location: await deps.server.deny(request.raw, reply.raw, parseRefusal(request.body).id),
  }));
}
