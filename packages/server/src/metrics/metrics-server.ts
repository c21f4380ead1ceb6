import { hash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { FastifyPluginAsync } from "fastify";
import { requestId } from "../lib/id.ts";
import type { Metrics } from "./metrics.ts";

export interface MetricsDeps {
  metrics: Metrics;
  /** Required as a bearer token. Null: everybody who reaches the port may read. */
  token: string | null;
}

/** `GET /metrics` and `GET /healthz` on a separate port, which workers have too and a public proxy does not reach. */
export async function startMetricsServer(
  deps: MetricsDeps,
  address: { host: string; port: number },
): Promise<{ port: number; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.method === "GET" && request.url === "/healthz") {
      // Liveness for workers, which have no other port.
      response.writeHead(200, { "content-type": "application/json; charset=utf-8" }).end('{"status":"ok"}');
      return;
    }
    if (request.method !== "GET" || request.url !== "/metrics") {
      response.writeHead(404).end();
      return;
    }
    answer(deps, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(address.port, address.host, resolve);
  });
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound ? bound.port : address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The same on the API's port: only with a token, because that port is public. */
export function metricsPlugin(deps: MetricsDeps & { token: string }): FastifyPluginAsync {
  return async (app) => {
    app.get("/metrics", async (request, reply) => {
      reply.hijack();
      reply.raw.setHeader("x-request-id", requestId(request.raw));
      await answer(deps, request.raw, reply.raw).catch(() => reply.raw.destroy());
    });
  };
}

async function answer(deps: MetricsDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (deps.token !== null && !isSame(request.headers.authorization ?? "", `Bearer ${deps.token}`)) {
    const body = JSON.stringify({ error: "The metrics token is required: Authorization: Bearer <token>." });
    response.writeHead(401, { "content-type": "application/json; charset=utf-8", "www-authenticate": "Bearer" });
    response.end(body);
    return;
  }
  const text = await deps.metrics.registry.metrics();
  response.writeHead(200, { "content-type": deps.metrics.registry.contentType, "cache-control": "no-store" });
  response.end(text);
}

/** Constant-time comparison. */
function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}
