import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import fastify, {
  type FastifyInstance,
  type FastifyPluginAsync,
  type FastifyReply,
  type FastifyRequest,
} from "fastify";
import type { KeyGrant } from "../accounts/keys/api-keys.ts";
import { authenticateKey, type Keyring } from "../accounts/keys/keyring.ts";
import type { Project } from "../accounts/projects/projects.ts";
import { AppError } from "../errors.ts";
import { requestId } from "../lib/id.ts";
import {
  answerClientError,
  createErrorHandler,
  olderVersion,
  projectNotFound,
  refuse,
  routeNotFound,
  unauthorized,
} from "./errors.ts";
import { describeRoutes, openapiRoute, serveReference } from "./openapi.ts";
import { cutUnreadBody } from "./request-body.ts";
import { type JobRoutesDeps, jobRoutes } from "./routes/job-routes.ts";

export interface AppDeps extends JobRoutesDeps {
  /** Why this process takes no work; null: it does. */
  problem?(): Promise<string | null>;
  trustProxy: boolean | string;
  /** More routes, each with its own parsers and hooks. */
  plugins?: readonly FastifyPluginAsync[];
}

const bodyBytesMax = 2 * 1024 * 1024;

/** The HTTP server, ready to listen. */
export function buildApp(deps: AppDeps): FastifyInstance {
  const unrouted = createUnrouted(deps);
  const handleError = createErrorHandler(deps);
  const app = fastify({
    logger: false,
    trustProxy: deps.trustProxy,
    bodyLimit: bodyBytesMax,
    // The framework's 503 has a different body. Requests on open connections are still answered.
    return503OnClosing: false,
    serverFactory: (handler) => createHttpServer(handler, deps.publicUrl),
    routerOptions: {
      ignoreTrailingSlash: true,
      // Longer than any header line, so that long ids reach their route and get 404 there.
      maxParamLength: 65_536,
    },
    // A path that cannot be decoded.
    frameworkErrors(_error, request, reply) {
      reply.header("x-request-id", requestId(request.raw));
      unrouted.answer(request, reply).catch((error) => handleError(error, request, reply));
    },
    clientErrorHandler: answerClientError,
  });
  app.setErrorHandler(handleError);
  app.removeAllContentTypeParsers();
  app.decorateRequest("grant", null);
  app.decorateRequest("project", null);
  unrouted.watch(app);
  // When the framework sends: responses that bypass it set the id themselves.
  app.addHook("onSend", (request, reply, _payload, done) => {
    reply.header("x-request-id", requestId(request.raw));
    done();
  });
  // Before a body is read or its type checked, which would be refused first. The framework's types lack this hook.
  const beforeBody = { onRequest: unrouted.answer } as object;
  app.setNotFoundHandler(beforeBody, unrouted.answer);
  describeRoutes(app, deps);
  app.register(async (scope) => jobRoutes(scope, deps));
  app.register(async (scope) => {
    openapiRoute(scope, deps);
    healthRoutes(scope, deps);
    serveReference(scope);
  });
  for (const plugin of deps.plugins ?? []) app.register(plugin);
  return app;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Set by `require-key.ts`, before the body is read. */
    grant: KeyGrant | null;
    /** Set by `require-key.ts` on routes that need it. */
    project: Project | null;
  }
}

interface KnownPath {
  form: RegExp;
  methods: Set<string>;
}

/**
 * Responds to requests without a route: 405 if another method exists, otherwise 404. Below `/v2` the key is checked
 * first, as everywhere.
 */
function createUnrouted(deps: { keyring: Keyring }) {
  const paths = new Map<string, KnownPath>();

  return {
    /** Call before adding routes. */
    watch(app: FastifyInstance): void {
      app.addHook("onRoute", ({ url, method }) => {
        const known = paths.get(url) ?? { form: formOf(url), methods: new Set<string>() };
        for (const one of [method].flat()) known.methods.add(one);
        paths.set(url, known);
      });
    },
    async answer(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const path = (request.raw.url ?? "").split(/[?#]/, 1)[0] ?? "";
      const known = [...paths.values()].find(({ form }) => form.test(path));
      if (path.startsWith("/v2/")) {
        const grant = await authenticateKey(deps.keyring, request);
        if (grant === null) return void refuse(reply, unauthorized);
        const projectId = known?.form.exec(path)?.groups?.projectId;
        if (projectId !== undefined && !grant.projectIds.has(projectId)) return void refuse(reply, projectNotFound);
      }
      // The method is right, but the framework could not decode the path.
      if (!known || known.methods.has(request.method)) {
        return void refuse(reply, path.startsWith("/v1/agent/") ? olderVersion : routeNotFound);
      }
      refuse(reply, {
        code: "method_not_allowed",
        message: `Method not allowed. Use ${[...known.methods].filter((method) => method !== "HEAD").join(" or ")}.`,
        headers: { allow: [...known.methods].join(", ") },
      });
    },
  };
}

/** Valid ids need no decoding, so an encoded one is not found. */
function formOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part === "*") return ".*";
    return part.startsWith(":") ? `(?<${part.slice(1).replace(/\W.*/, "")}>[^/]*)` : part.replace(/[^\w-]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}/?$`);
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The idle timeout: a push is silent while git compresses. Nothing else here is silent for so long. */
const silenceMsMax = 300_000;

/** Node's server, with what must happen before a request is routed. */
export function createHttpServer(
  handler: Handler,
  publicUrl: () => string,
  times: { silenceMsMax: number } = { silenceMsMax },
): Server {
  const rewritePath = createPathRewriter(publicUrl);
  const server = createServer(
    {
      requestTimeout: silenceMsMax,
      // Longer than load balancers' keep-alive, so that the server never closes a connection that is being used.
      keepAliveTimeout: 72_000,
      // Otherwise Node answers a missing Host itself, without a body.
      requireHostHeader: false,
    },
    take,
  );

  // A client that neither sends nor reads would keep a large response in memory.
  server.setTimeout(times.silenceMsMax);

  function take(request: IncomingMessage, response: ServerResponse): void {
    cutUnreadBody(request, response);
    if (request.headers.host === undefined && request.httpVersionMinor === 1) {
      refuseWithoutHost(request, response);
      return;
    }
    request.url = rewritePath(request.url ?? "/");
    handler(request, response);
  }

  // A client with `Expect: 100-continue` learns first whether it may send its body: below `/v2` the route requests the
  // body after checking the key.
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    if (!request.url?.includes("/v2/")) response.writeContinue();
    take(request, response);
  });
  // The standard allows ignoring other expectations. Node would refuse them without a body.
  server.on("checkExpectation", take);
  return server;
}

function refuseWithoutHost(request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({ error: "The Host header is missing." });
  response.writeHead(400, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "emend-error": "invalid_request",
    "x-request-id": requestId(request),
    connection: "close",
  });
  response.end(body);
}

/**
 * Normalizes a request's target: removes the public URL's base path, which a proxy may or may not have removed, and the
 * authority of an absolute target.
 */
function createPathRewriter(publicUrl: () => string): (url: string) => string {
  let basePath: string | null = null;
  return (url) => {
    // Until the port is bound there may be no public URL.
    basePath ??= URL.parse(publicUrl())?.pathname.replace(/\/+$/, "") ?? null;
    const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "");
    if (!basePath || !path.startsWith(basePath)) return path;
    const rest = path.slice(basePath.length);
    if (rest === "" || rest.startsWith("?")) return `/${rest}`;
    return rest.startsWith("/") ? rest : path;
  };
}

/** For load balancers and supervisors: liveness (the process answers) and readiness (database and disk are usable). */
function healthRoutes(app: FastifyInstance, deps: AppDeps): void {
  app.get("/healthz", (_request, reply) => {
    reply.header("cache-control", "no-store").send({ status: "ok" });
  });
  app.get("/readyz", async (_request, reply) => {
    await deps.pool.query("select 1");
    const problem = await deps.problem?.();
    if (problem) throw new AppError("unavailable", { publicMessage: problem });
    return reply.header("cache-control", "no-store").send({ status: "ready" });
  });
}
