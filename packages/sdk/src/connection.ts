import type { AgentJob } from "@emend/contract";
import { EmendError } from "./errors.ts";

/** A signal ends the waiting, not the job. */
export interface WaitOptions extends CallOptions {
  /** Called with the job as it is at first, and after each change. */
  onUpdate?: (job: AgentJob) => void;
}

/** What each call may set anew; a client's own are the defaults. */
export interface CallSettings {
  /** How long one try may take; a long poll gets its waiting time on top. 30 s unless given. */
  timeoutMs?: number;
  /**
   * How long an outage is retried before its error is thrown: 2 minutes unless given, 0 for one try. A service that this
   * client has never reached is given up after 5 s, except by `wait` and `events`.
   */
  outageMsMax?: number;
  /** The longest pause before a retry; a service that asks for a longer one gets none. 30 s unless given. */
  retryWaitMsMax?: number;
  /** Sent with each request, such as `X-Request-Id` or a proxy's own. Those that Emend needs win. */
  headers?: Readonly<Record<string, string>>;
}

export interface CallOptions extends CallSettings {
  /** Ends the call with the signal's reason. `AbortSignal.timeout(ms)` gives a limit. */
  signal?: AbortSignal;
}

export interface EmendOptions extends CallSettings {
  /** Where Emend answers, with or without a trailing slash; a base path is kept. `EMEND_URL` unless given. */
  baseUrl?: string;
  /** An API key, `emend_…`: a server-side secret. `EMEND_API_KEY` unless given. */
  apiKey?: string;
  /** Another `fetch`, to go through a proxy or to record. */
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

/** Checks the options once, so that a bad one is reported at construction and not as a strange network error. */
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

/** The connection with what one call sets anew. */
export function forCall(deps: Connection, settings: CallSettings): Connection {
  return {
    ...deps,
    timeoutMs: settings.timeoutMs ?? deps.timeoutMs,
    outageMsMax: settings.outageMsMax ?? deps.outageMsMax,
    retryWaitMsMax: settings.retryWaitMsMax ?? deps.retryWaitMsMax,
    // Header names are compared without case: lower case makes a later one replace an earlier.
    headers: settings.headers
      ? { ...deps.headers, ...Object.fromEntries(new Headers({ ...settings.headers })) }
      : deps.headers,
  };
}

/** Edge runtimes have no environment variables: there the options must be given. */
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
  // A key read from a file often ends with a line feed; inside, no header may hold one.
  const key = text.trim();
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new EmendError("invalid_request", "apiKey is empty or contains invalid characters");
  }
  return key;
}
