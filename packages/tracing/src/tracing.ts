import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { authoritiesOf, type Fetch, type Network } from "@emend/base/network.ts";
import type { Context } from "@opentelemetry/api";

/** OpenTelemetry spans. They contain nothing of a credential, nor of a prompt or a page unless the operator asks. */
export interface Tracer {
  /** Whether spans of models and tools have their content. */
  readonly isContentWanted: boolean;
  /** Runs `work` in a span; spans inside it become its children. Errors are recorded and rethrown. */
  span<T>(about: SpanAbout, work: (span: Span) => Promise<T>): Promise<T>;
  /** For spans that start and end in different places. */
  start(about: SpanAbout): Span & { end(): void };
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

interface SpanAbout {
  name: string;
  kind: "server" | "client" | "internal";
  attributes: Attributes;
  /** All spans of a job are one trace, across nodes and runs. */
  jobId?: string;
  /** From the caller (W3C Trace Context). */
  traceparent?: string | undefined;
}

interface Span {
  set(attributes: Attributes): void;
  fail(): void;
}

export type Attributes = Readonly<Record<string, string | number | boolean | string[]>>;

/** Where traces go. */
export interface TracingSettings {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  content: boolean;
}

/**
 * Loads OpenTelemetry and sends spans in batches. The context is kept here and not in its globals, so that two servers
 * in one process stay separate.
 */
export async function startTracing(settings: TracingSettings, network: Network = {}): Promise<Tracer> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const ca = authoritiesOf(network);
  const exporter = new OTLPTraceExporter({
    url: settings.endpoint,
    headers: { ...settings.headers },
    ...(ca && { httpAgentOptions: { ca } }),
  });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ "service.name": settings.serviceName }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("emend");
  const current = new AsyncLocalStorage<Context>();
  const kinds = { server: api.SpanKind.SERVER, client: api.SpanKind.CLIENT, internal: api.SpanKind.INTERNAL } as const;

  function parentOf({ jobId, traceparent }: SpanAbout): Context {
    const inside = current.getStore();
    if (inside) return inside;
    const sent = /^00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])$/.exec(traceparent ?? "");
    const [traceId, spanId] = jobId === undefined ? [sent?.[1], sent?.[2]] : idsOf(jobId);
    const parent = { traceId: traceId ?? "", spanId: spanId ?? "", traceFlags: api.TraceFlags.SAMPLED, isRemote: true };
    if (!api.isSpanContextValid(parent)) return api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
  }

  function begin(about: SpanAbout): { context: Context; span: Span & { end(): void } } {
    const parent = parentOf(about);
    const options = { kind: kinds[about.kind], attributes: { ...about.attributes } };
    const span = tracer.startSpan(about.name, options, parent);
    return {
      context: api.trace.setSpan(parent, span),
      span: {
        set: (attributes) => void span.setAttributes({ ...attributes }),
        fail: () => void span.setStatus({ code: api.SpanStatusCode.ERROR }),
        end: () => span.end(),
      },
    };
  }

  return {
    isContentWanted: settings.content,
    start: (about) => begin(about).span,
    async span(about, work) {
      const { context, span } = begin(about);
      try {
        return await current.run(context, () => work(span));
      } catch (error) {
        // Its message may contain anything, so it is only in the log.
        span.set({ "error.type": error instanceof Error ? error.name : "unknown" });
        span.fail();
        throw error;
      } finally {
        span.end();
      }
    },
    // An unavailable collector must not delay the shutdown.
    close: () => Promise.race([provider.shutdown(), setTimeout(closeMsMax, undefined, { ref: false })]),
  };
}

const closeMsMax = 3_000;

function idsOf(jobId: string): readonly [traceId: string, spanId: string] {
  const digits = hash("sha256", jobId, "hex");
  return [digits.slice(0, 32), digits.slice(32, 48)];
}

/** From the standard OpenTelemetry variables. Null: tracing is off. */
export function readTracingSettings(read: (name: string) => string | null, problems: string[]): TracingSettings | null {
  const base = read("OTEL_EXPORTER_OTLP_ENDPOINT");
  const endpoint = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  if (endpoint === null || read("OTEL_SDK_DISABLED") === "true" || read("OTEL_TRACES_EXPORTER") === "none") return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    problems.push("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL: traces are sent as OTLP over HTTP");
  }
  const headers = readHeaders(read("OTEL_EXPORTER_OTLP_HEADERS") ?? "");
  if (!headers) problems.push("OTEL_EXPORTER_OTLP_HEADERS must be pairs such as name=value, separated by commas");
  const content = readContent(read("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"), problems);
  return { endpoint, headers: headers ?? {}, serviceName: read("OTEL_SERVICE_NAME") ?? "emend", content };
}

/** Emend sends no events, so content of events alone is none. */
function readContent(text: string | null, problems: string[]): boolean {
  const value = (text ?? "false").toLowerCase();
  if (["true", "span_only", "span_and_event"].includes(value)) return true;
  if (["false", "no_content", "event_only"].includes(value)) return false;
  problems.push(
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT must be true, false, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT or NO_CONTENT",
  );
  return false;
}

function readHeaders(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const pair of text.split(",").filter((each) => each.trim() !== "")) {
    const [name = "", ...value] = pair.split("=");
    try {
      headers[name.trim()] = decodeURIComponent(value.join("=").trim());
    } catch {
      return null;
    }
  }
  return headers;
}

/** A span for each request to a forge or a model, until the response starts. Without paths and queries. */
export function traceFetch(tracer: Tracer | null, fetch: Fetch): Fetch {
  if (!tracer) return fetch;
  return (url, init) => {
    const method = init?.method ?? "GET";
    const host = URL.parse(url)?.host ?? "";
    const attributes = { "http.request.method": method, "server.address": host };
    return tracer.span({ name: `${method} ${host}`, kind: "client", attributes }, async (span) => {
      const answer = await fetch(url, init);
      span.set({ "http.response.status_code": answer.status });
      if (answer.status >= 400) span.fail();
      return answer;
    });
  };
}

interface Notice {
  request: IncomingMessage;
  response: ServerResponse;
  server: Server;
}

/** A span for each request that the server answers. Returns a function that ends it. */
export function traceRequests(
  tracer: Tracer,
  server: Server,
  routeOf: (url: string) => { route: string; projectId?: string | undefined },
): () => void {
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

type Stage = (job: { id: string; projectId: string }, ...rest: never[]) => Promise<unknown>;

/** Wraps the stages of a run, with a span for each call. All spans of a job are one trace. */
export function traceStages<T extends object>(tracer: Tracer | null, stages: T): T {
  if (!tracer) return stages;
  const traced = Object.entries(stages).map(([name, stage]: [string, Stage]) => {
    const call: Stage = (job, ...rest) =>
      tracer.span(
        {
          name: `run ${name}`,
          kind: "internal",
          attributes: { "emend.job.id": job.id, "emend.project.id": job.projectId },
          jobId: job.id,
        },
        () => stage(job, ...rest),
      );
    return [name, call];
  });
  return Object.fromEntries(traced) as T;
}
