import { hash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { FastifyPluginAsync } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { requestId } from "../lib/id.ts";
import { version } from "../lib/version.ts";

/** Metrics for Prometheus. Labels are from closed sets, so that no client can create series. */
export interface Metrics {
  registry: Registry;
  requests: Counter<"method" | "route" | "status">;
  requestSeconds: Histogram<"method" | "route">;
  runs: Counter<"outcome">;
  automationRuns: Counter<"outcome">;
  farRequests: Counter<"host" | "status">;
  farRequestSeconds: Histogram<"host">;
  modelTurns: Counter<"model" | "outcome">;
  modelTurnSeconds: Histogram<"model">;
  modelTokens: Counter<"model" | "kind">;
  modelCostUsd: Counter<"model">;
}

const secondsShort = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
const secondsLong = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];

export function createMetrics(role = "all"): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  // Gauges with a counter's name, which promtool refuses. The same figures are there by type.
  for (const name of ["handles", "requests", "resources"]) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const build = { version, role, node: process.version };
  new Gauge({
    name: "emend_build_info",
    help: "1, with what runs as labels",
    labelNames: Object.keys(build),
    registers,
  }).set(build, 1);
  return {
    registry,
    requests: new Counter({
      name: "emend_http_requests_total",
      help: "Requests answered",
      labelNames: ["method", "route", "status"],
      registers,
    }),
    requestSeconds: new Histogram({
      name: "emend_http_request_seconds",
      help: "Request duration, from the first byte of the request to the last byte of the response; without event streams",
      labelNames: ["method", "route"],
      buckets: secondsShort,
      registers,
    }),
    runs: new Counter({
      name: "emend_runs_total",
      help: "Runs that this process ended, by outcome: completed, a failure code, stopped, released, retry, crash, lost",
      labelNames: ["outcome"],
      registers,
    }),
    automationRuns: new Counter({
      name: "emend_automation_runs_total",
      help: "Automation events by outcome: started, continued, skipped, waiting (counted at each attempt)",
      labelNames: ["outcome"],
      registers,
    }),
    farRequests: new Counter({
      name: "emend_far_requests_total",
      help: "Requests to forges and models, by host; status 0 means no answer",
      labelNames: ["host", "status"],
      registers,
    }),
    farRequestSeconds: new Histogram({
      name: "emend_far_request_seconds",
      help: "Time until the first byte of a forge's or model's answer",
      labelNames: ["host"],
      buckets: secondsLong,
      registers,
    }),
    modelTurns: new Counter({
      name: "emend_model_turns_total",
      help: "Model turns",
      labelNames: ["model", "outcome"],
      registers,
    }),
    modelTurnSeconds: new Histogram({
      name: "emend_model_turn_seconds",
      help: "Duration of a model turn",
      labelNames: ["model"],
      buckets: secondsLong,
      registers,
    }),
    modelTokens: new Counter({
      name: "emend_model_tokens_total",
      help: "Tokens used: input (including cached), output, cached",
      labelNames: ["model", "kind"],
      registers,
    }),
    modelCostUsd: new Counter({
      name: "emend_model_cost_usd_total",
      help: "Cost of model turns in US dollars, by list prices",
      labelNames: ["model"],
      registers,
    }),
  };
}

/** A gauge that is computed on scrape. If it fails, the others are still shown. */
export function addGauge<L extends string>(
  metrics: Metrics,
  about: { name: string; help: string; labelNames?: readonly L[] },
  read: (gauge: Gauge<L>) => Promise<void>,
): void {
  const gauge: Gauge<L> = new Gauge<L>({
    name: about.name,
    help: about.help,
    labelNames: [...(about.labelNames ?? [])],
    registers: [metrics.registry],
    async collect() {
      gauge.reset();
      await read(gauge).catch(() => gauge.remove());
    },
  });
}

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
