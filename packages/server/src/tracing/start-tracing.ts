import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Context } from "@opentelemetry/api";
import type { Span, SpanAbout, Tracer, TracingSettings } from "./tracing.ts";

/**
 * Loads OpenTelemetry and sends spans in batches. What runs inside what is kept here and not in its globals, so that
 * two servers in one process do not meet.
 */
export async function startTracing(settings: TracingSettings): Promise<Tracer> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const exporter = new OTLPTraceExporter({ url: settings.endpoint, headers: { ...settings.headers } });
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
    start: (about) => begin(about).span,
    async span(about, work) {
      const { context, span } = begin(about);
      try {
        return await current.run(context, () => work(span));
      } catch (error) {
        // Its words may hold anything: the log has them.
        span.set({ "error.type": error instanceof Error ? error.name : "unknown" });
        span.fail();
        throw error;
      } finally {
        span.end();
      }
    },
    // A collector that is away must not hold up the end of the process.
    close: () => Promise.race([provider.shutdown(), setTimeout(closeMsMax, undefined, { ref: false })]),
  };
}

const closeMsMax = 3_000;

function idsOf(jobId: string): readonly [traceId: string, spanId: string] {
  const digits = hash("sha256", jobId, "hex");
  return [digits.slice(0, 32), digits.slice(32, 48)];
}
