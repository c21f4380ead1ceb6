import type { TracingSettings } from "./tracing.ts";

/** By the variables that every OpenTelemetry exporter knows; null: nobody is told. */
export function readTracingSettings(read: (name: string) => string | null, problems: string[]): TracingSettings | null {
  const base = read("OTEL_EXPORTER_OTLP_ENDPOINT");
  const endpoint = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") ?? (base && `${base.replace(/\/+$/, "")}/v1/traces`);
  if (endpoint === null || read("OTEL_SDK_DISABLED") === "true" || read("OTEL_TRACES_EXPORTER") === "none") return null;
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    problems.push("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL: traces are sent as OTLP over HTTP");
  }
  const headers = readHeaders(read("OTEL_EXPORTER_OTLP_HEADERS") ?? "");
  if (!headers) problems.push("OTEL_EXPORTER_OTLP_HEADERS must be pairs such as name=value, separated by commas");
  return { endpoint, headers: headers ?? {}, serviceName: read("OTEL_SERVICE_NAME") ?? "emend" };
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
