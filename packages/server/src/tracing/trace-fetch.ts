import type { Fetch } from "../lib/network.ts";
import type { Tracer } from "./tracing.ts";

/** A span for each request to a forge or a model, until its answer begins. Paths and queries stay here. */
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
