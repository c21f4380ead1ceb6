/** Spans for OpenTelemetry: what took how long, inside what. Nothing of a prompt, a page or a credential goes into one. */
export interface Tracer {
  /** Runs `work` in a span; those begun inside it become its children. A throw is marked and passed on. */
  span<T>(about: SpanAbout, work: (span: Span) => Promise<T>): Promise<T>;
  /** For what begins and ends in different places. */
  start(about: SpanAbout): Span & { end(): void };
  /** Sends what is left. */
  close(): Promise<void>;
}

export interface SpanAbout {
  name: string;
  kind: "server" | "client" | "internal";
  attributes: Attributes;
  /** Spans of one job are one trace, whichever node and run they are of. */
  jobId?: string;
  /** As a caller sent it (W3C Trace Context). */
  traceparent?: string | undefined;
}

export interface Span {
  set(attributes: Attributes): void;
  fail(): void;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Where traces go. */
export interface TracingSettings {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
}
