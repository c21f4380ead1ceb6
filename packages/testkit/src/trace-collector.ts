import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface CollectedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  status?: { code?: number };
  attributes: { key: string; value: Record<string, unknown> }[];
}

/** A collector of OpenTelemetry spans: OTLP over HTTP, as JSON. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: Record<string, unknown>[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    headers.push(request.headers);
    bodies.push(body);
    for (const { scopeSpans } of JSON.parse(body).resourceSpans) {
      for (const { spans: found } of scopeSpans) spans.push(...found);
    }
    response.setHeader("content-type", "application/json").end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    headers,
    stop: () => void server.close(),
  };
}

/** An attribute's value. Undefined: the span lacks it. */
export function attributeOf(span: CollectedSpan | undefined, key: string): unknown {
  return Object.values(span?.attributes.find((each) => each.key === key)?.value ?? {})[0];
}
