import type { Connection } from "./connection.ts";
import { EmendError, type EmendErrorKind } from "./errors.ts";

const firstPauseMs = 250;
const pauseMsMax = 8000;

/**
 * Sends a request, and again while that can help. Reads, archive, cancel and retry (idempotent by contract) and creates, which
 * carry one idempotency key through all their tries, may be repeated whatever happened; others only after a refusal.
 */
export async function request(
  deps: Connection,
  what: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await exchange(deps, what, signal);
    } catch (error) {
      if (!(error instanceof EmendError) || retries >= deps.retriesMax) throw error;
      if (what.isOnce && !isRefusal(error)) throw error;
      const waitMs = retryWaitMs(error, retries);
      if (waitMs === null || waitMs > deps.retryWaitMsMax) throw error;
      await pause(waitMs, signal);
    }
  }
}

/** An answer that says that nothing was done; without one, nobody knows. */
function isRefusal({ status }: EmendError): boolean {
  return status === 429 || status === 503;
}

/** How long to wait before the next try, or null where another try cannot help. */
export function retryWaitMs(error: EmendError, retries: number, random = Math.random()): number | null {
  switch (error.kind) {
    case "network":
    case "timeout":
    case "unavailable":
    case "rate_limited":
      break;
    case "conflict":
      // A job that is being published says when to ask again; any other conflict stays one.
      if (error.retryAfterMs === null) return null;
      break;
    default:
      return null;
  }
  // Full jitter, so that clients cut off together do not come back together; never before the time that was asked for.
  const jitterMs = random * Math.min(pauseMsMax, firstPauseMs * 2 ** retries);
  return (error.retryAfterMs ?? 0) + jitterMs;
}

interface ApiRequest {
  method: "GET" | "POST";
  /** Below the base URL, already encoded. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Added to the time-out: how long the service was asked to hold the answer back. */
  heldMsMax?: number;
  /** Carried out again by each further try: only a refusal, which did nothing, is tried again. */
  isOnce?: boolean;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** One request and its answer, read to the end. Every refusal is thrown as an EmendError. */
async function exchange(deps: Connection, request: ApiRequest, signal: AbortSignal | undefined): Promise<ApiResponse> {
  const deadline = AbortSignal.timeout(deps.timeoutMs + (request.heldMsMax ?? 0));
  let response: ApiResponse;
  try {
    const answer = await send(deps, request, signal ? AbortSignal.any([signal, deadline]) : deadline);
    response = { status: answer.status, headers: answer.headers, text: await answer.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    throw noAnswer(deps, deadline.aborted, cause);
  }
  if (isAccepted(response.status)) return response;
  throw refusal(deps, response);
}

/** The request on its way, with all that every request carries. */
export function send(deps: Connection, request: ApiRequest, signal: AbortSignal): Promise<Response> {
  return deps.fetch(deps.baseUrl + request.path, {
    method: request.method,
    headers: {
      accept: "application/json",
      authorization: `Bearer ${deps.apiKey}`,
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...request.headers,
    },
    body: request.body === undefined ? undefined : JSON.stringify(request.body),
    // A key must not follow a redirect to a place that nobody configured.
    redirect: "manual",
    signal,
  });
}

export function isAccepted(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

interface RefusedAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The error that an answer other than 2xx and 304 stands for. */
export function refusal(deps: Connection, answer: RefusedAnswer): EmendError {
  const { status, headers } = answer;
  const details = { status, code: headers.get("emend-error"), retryAfterMs: retryAfterMs(headers.get("retry-after")) };
  if (status < 400) {
    const target = headers.get("location") ?? "elsewhere";
    return new EmendError("invalid_response", `${deps.baseUrl} redirects to ${target}; set that as baseUrl`, details);
  }
  return new EmendError(kindOf(status), errorText(answer.text) ?? `the service answered ${status}`, details);
}

/** The error that a request without an answer stands for. */
export function noAnswer(deps: Connection, isLate: boolean, cause: unknown): EmendError {
  if (isLate) return new EmendError("timeout", `no answer from ${deps.baseUrl} in time`, { cause });
  return new EmendError("network", `${deps.baseUrl} cannot be reached: ${reason(cause)}`, { cause });
}

/** `fetch` hides what happened one or two causes below "fetch failed". */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reason(error.cause);
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  return error.message || code || error.name;
}

function errorText(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== "object" || parsed === null || !("error" in parsed)) return null;
    return typeof parsed.error === "string" ? parsed.error : null;
  } catch {
    return null;
  }
}

function kindOf(status: number): EmendErrorKind {
  switch (status) {
    case 401:
      return "unauthorized";
    case 403:
      return "forbidden";
    case 404:
      return "not_found";
    case 409:
      return "conflict";
    case 429:
      return "rate_limited";
    default:
      return status >= 500 ? "unavailable" : "invalid_request";
  }
}

/** Reads `Retry-After` (seconds or an HTTP date); null where it is absent or not understood. */
export function retryAfterMs(header: string | null, nowMs = Date.now()): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** Waits, or throws the signal's reason as soon as it aborts. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    function onAbort() {
      clearTimeout(timer);
      reject(signal?.reason);
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** The JSON of an answer; a proxy's page or another service's JSON is told apart from what was expected. */
export function parseBody<T>(
  deps: Connection,
  response: ApiResponse,
  what: { name: string; is(body: object): body is T & object },
): T {
  let body: unknown;
  try {
    body = JSON.parse(response.text);
  } catch (cause) {
    throw unexpected(deps, response, what.name, cause);
  }
  if (typeof body !== "object" || body === null || !what.is(body)) throw unexpected(deps, response, what.name);
  return body;
}

function unexpected(deps: Connection, response: ApiResponse, name: string, cause?: unknown): EmendError {
  const message = `${deps.baseUrl} answered with something that is no Emend ${name}; is baseUrl right?`;
  return new EmendError("invalid_response", message, { status: response.status, cause });
}
