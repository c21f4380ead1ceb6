import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
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
