import type { AgentJob } from "@emend/contract";
import { EmendError } from "./errors.ts";

/** The signal ends the wait, not the job. */
export interface WaitOptions extends CallOptions {
  /** Called with the job at first, and after each change. */
  onUpdate?: (job: AgentJob) => void;
}

/** Settings that each call can override. The client's are the defaults. */
export interface CallSettings {
  /** The timeout of one attempt; a long poll gets its waiting time on top. Default: 30 s. */
  timeoutMs?: number;
  /**
   * How long to retry during an outage before the error is thrown. Default: 2 minutes; 0 means one attempt. A service
   * that this client has never reached is given up after 5 s, except by `wait` and `events`.
   */
  outageMsMax?: number;
  /** The longest pause before a retry. If the service asks for a longer one, there is no retry. Default: 30 s. */
  retryWaitMsMax?: number;
  /** Sent with each request, such as `X-Request-Id` or a proxy's. Emend's own headers win. */
  headers?: Readonly<Record<string, string>>;
}

export interface CallOptions extends CallSettings {
  /** Ends the call with the signal's reason. Use `AbortSignal.timeout(ms)` for a limit. */
  signal?: AbortSignal;
}

export interface EmendOptions extends CallSettings {
  /** Emend's URL, with or without a trailing slash; a base path is kept. Default: `EMEND_URL`. */
  baseUrl?: string;
  /** An API key, `emend_…`: a server-side secret. Default: `EMEND_API_KEY`. */
  apiKey?: string;
  /** A custom `fetch`, for example for a proxy. */
  fetch?: typeof fetch;
}

export interface Connection {
  baseUrl: string;
  apiKey: string;
  timeoutMs: number;
  outageMsMax: number;
  retryWaitMsMax: number;
  headers: Readonly<Record<string, string>>;
  fetch: typeof fetch;
  /** Shared by all calls of a client. */
  heard: { isReached: boolean };
}

/** Validates the options once, so that a bad one is reported at construction and not as a strange network error. */
export function connection(options: EmendOptions): Connection {
  return forCall(
    {
      baseUrl: parseBaseUrl(options.baseUrl ?? fromEnvironment("EMEND_URL")),
      apiKey: parseApiKey(options.apiKey ?? fromEnvironment("EMEND_API_KEY")),
      timeoutMs: 30_000,
      outageMsMax: 120_000,
      retryWaitMsMax: 30_000,
      headers: {},
      fetch: options.fetch ?? fetch,
      heard: { isReached: false },
    },
    options,
  );
}

/** The connection with one call's settings. */
export function forCall(deps: Connection, settings: CallSettings): Connection {
  return {
    ...deps,
    timeoutMs: settings.timeoutMs ?? deps.timeoutMs,
    outageMsMax: settings.outageMsMax ?? deps.outageMsMax,
    retryWaitMsMax: settings.retryWaitMsMax ?? deps.retryWaitMsMax,
    // Lower case, so that a later header replaces an earlier one.
    headers: settings.headers
      ? { ...deps.headers, ...Object.fromEntries(new Headers({ ...settings.headers })) }
      : deps.headers,
  };
}

/** Edge runtimes have no environment variables: there the options are required. */
function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}

function parseBaseUrl(text: string | undefined): string {
  if (text === undefined || !URL.canParse(text)) {
    const what = text === undefined ? "is missing" : "is not a URL";
    throw new EmendError(
      "invalid_request",
      `baseUrl ${what}; give one such as http://localhost:4600, or set EMEND_URL`,
    );
  }
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new EmendError("invalid_request", "baseUrl must begin with http:// or https://");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new EmendError("invalid_request", "baseUrl must not contain a user, password, query or fragment");
  }
  return url.href.replace(/\/+$/, "");
}

function parseApiKey(text: string | undefined): string {
  if (text === undefined) throw new EmendError("invalid_request", "apiKey is missing; give it, or set EMEND_API_KEY");
  // A key from a file often ends with a line feed, which a header cannot contain.
  const key = text.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new EmendError("invalid_request", "apiKey is empty or contains invalid characters");
  }
  return key;
}
