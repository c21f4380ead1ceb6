import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { routeOf } from "../metrics/route-of.ts";
import type { Tracer } from "./tracing.ts";

interface Notice {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

/** A span for each request that a server answers; gives what ends it. */
export function traceRequests(tracer: Tracer, server: Server): () => void {
  const spans = new WeakMap<IncomingMessage, ReturnType<Tracer["start"]>>();

  function begin(notice: unknown): void {
    const { request, server: of } = notice as Notice;
    if (of !== server) return;
    const { route, projectId } = routeOf(request.url ?? "");
    const method = request.method ?? "";
    const span = tracer.start({
      name: `${method} ${route}`,
      kind: "server",
      attributes: {
        "http.request.method": method,
        "http.route": route,
        ...(projectId !== undefined && { "emend.project.id": projectId.slice(0, 64) }),
      },
      traceparent: String(request.headers.traceparent ?? ""),
    });
    spans.set(request, span);
  }

  function finish(notice: unknown): void {
    const { request, response, server: of } = notice as Notice;
    const span = of === server ? spans.get(request) : undefined;
    if (!span) return;
    span.set({ "http.response.status_code": response.statusCode });
    if (response.statusCode >= 500) span.fail();
    span.end();
  }

  subscribe("http.server.request.start", begin);
  subscribe("http.server.response.finish", finish);
  return () => {
    unsubscribe("http.server.request.start", begin);
    unsubscribe("http.server.response.finish", finish);
  };
}
