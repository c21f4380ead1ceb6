import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { type IncomingMessage, METHODS, type Server, type ServerResponse } from "node:http";
import type { Logger } from "../lib/logger.ts";
import { notedJob, requestId } from "../lib/request-id.ts";
import type { Metrics } from "./metrics.ts";
import { routeOf } from "./route-of.ts";

const startedAt = Symbol("startedAt");
type Timed = IncomingMessage & { [startedAt]?: number };
interface Notice {
  request: Timed;
  response: ServerResponse;
  server: Server;
}
const methods = new Set(METHODS);

/**
 * Counts and logs what a server answers. It listens to Node's own channels and not to the framework's hooks: those would
 * cost the fastest route a tenth of its requests a second. Reads are logged at debug: clients poll.
 */
export function measureRequests(deps: { metrics: Metrics; log: Logger }, server: Server): () => void {
  const { metrics, log } = deps;

  function begin(notice: unknown): void {
    const { request, server: of } = notice as Notice;
    if (of === server) request[startedAt] = performance.now();
  }

  function finish(notice: unknown): void {
    const { request, response, server: of } = notice as Notice;
    if (of !== server) return;
    const ms = performance.now() - (request[startedAt] ?? performance.now());
    const where = routeOf(request.url ?? "");
    const method = methods.has(request.method ?? "") ? (request.method ?? "") : "other";
    metrics.requests.inc({ method, route: where.route, status: response.statusCode });
    if (!where.route.endsWith("/events")) metrics.requestSeconds.observe({ method, route: where.route }, ms / 1000);
    const isNotable = response.statusCode >= 500 || (method !== "GET" && method !== "HEAD");
    const level = isNotable ? "info" : "debug";
    if (!log.isLevelEnabled(level)) return;
    const ids = { projectId: shorten(where.projectId), jobId: shorten(where.jobId ?? notedJob(request)) };
    const about = { requestId: requestId(request), method, route: where.route, ...ids };
    log[level]({ ...about, status: response.statusCode, ms: Math.round(ms * 10) / 10 }, "request answered");
  }

  subscribe("http.server.request.start", begin);
  subscribe("http.server.response.finish", finish);
  return () => {
    unsubscribe("http.server.request.start", begin);
    unsubscribe("http.server.response.finish", finish);
  };
}

/** What a client wrote in its path may be anything. */
function shorten(id: string | undefined): string | undefined {
  return id?.slice(0, 64);
}
