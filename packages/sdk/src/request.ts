import type { Connection } from "./connection.ts";
import type { Quota } from "./errors.ts";
import { EmendError, type EmendErrorKind } from "./errors.ts";

const firstPauseMs = 250;
const pauseMsMax = 8000;

/**
 * Sends a request, and again while that can help. Every request may be repeated whatever happened: reads, archive, cancel,
 * retry and the same claim are idempotent by contract; creates and messages carry one idempotency key through all their tries.
 */
export async function request(
  deps: Connection,
  what: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  const outage = createOutage(deps, what.isPatient ?? false);
  for (;;) {
    const startedMs = performance.now();
    try {
      return await exchange(deps, what, signal);
    } catch (error) {
      const waitMs = outage.nextPauseMs(error, startedMs);
      if (waitMs === null) throw error;
      await pause(waitMs, signal);
    }
  }
}

// A service that never answered probably has another URL.
const unreachedMsMax = 5000;

/** The retry policy: the pause after a failed attempt, until the time for an outage is used up. */
export function createOutage(
  deps: Pick<Connection, "outageMsMax" | "retryWaitMsMax" | "heard">,
  isPatient: boolean,
  clock: { nowMs(): number; random(): number } = { nowMs: () => performance.now(), random: Math.random },
) {
  let sinceMs: number | null = null;
  let retries = 0;
  return {
    /** Null: give up. An attempt that started in time is followed by one more, so a shorter outage is survived. */
    nextPauseMs(error: unknown, triedAtMs: number): number | null {
      if (!(error instanceof EmendError)) return null;
      const waitMs = retryWaitMs(error, retries, clock.random());
      if (waitMs === null || waitMs > deps.retryWaitMsMax) return null;
      sinceMs ??= clock.nowMs();
      const isKnown = isPatient || deps.heard.isReached;
      const untilMs = sinceMs + (isKnown ? deps.outageMsMax : Math.min(deps.outageMsMax, unreachedMsMax));
      if (deps.outageMsMax === 0 || triedAtMs >= untilMs) return null;
      retries += 1;
      return Math.max(error.retryAfterMs ?? 0, Math.min(waitMs, untilMs - clock.nowMs()), 0);
    },
    /** The service answered: the next failure starts another outage. */
    end(): void {
      sinceMs = null;
    },
    /** Something was received: pauses are short again. */
    reset(): void {
      sinceMs = null;
      retries = 0;
    },
  };
}

/** The pause before the next attempt. Null if a retry cannot help. */
export function retryWaitMs(error: EmendError, retries: number, random = Math.random()): number | null {
  switch (error.kind) {
    case "network":
    case "timeout":
    case "unavailable":
    case "rate_limited":
      break;
    case "conflict":
      // A job that is being published says when to retry. Any other conflict is final.
      if (error.retryAfterMs === null) return null;
      break;
    default:
      return null;
  }
  // Full jitter, so that clients do not come back together; never earlier than Retry-After.
  const jitterMs = random * Math.min(pauseMsMax, firstPauseMs * 2 ** retries);
  return (error.retryAfterMs ?? 0) + jitterMs;
}

interface ApiRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Relative to the base URL, already encoded. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Added to the timeout: how long the service may hold the response. */
  heldMsMax?: number;
  /** For callers that wait for a job: the whole outage time applies, even for a service that was never reached. */
  isPatient?: boolean;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** One request and its complete response. Every refusal is thrown as an EmendError. */
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
  deps.heard.isReached = true;
  if (isAccepted(response.status)) return response;
  throw refusal(deps, response);
}

/** Sends the request with the common headers. */
export function send(deps: Connection, request: ApiRequest, signal: AbortSignal): Promise<Response> {
  return deps.fetch(deps.baseUrl + request.path, {
    method: request.method,
    headers: {
      ...deps.headers,
      accept: "application/json",
      authorization: `Bearer ${deps.apiKey}`,
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...request.headers,
    },
    body: request.body === undefined ? undefined : bodyOf(request.body),
    // A key must not follow a redirect.
    redirect: "manual",
    signal,
  });
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

export function isAccepted(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

interface RefusedAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The error for a response other than 2xx and 304. */
export function refusal(deps: Connection, answer: RefusedAnswer): EmendError {
  const { status, headers } = answer;
  const details = {
    status,
    code: headers.get("emend-error"),
    retryAfterMs: retryAfterMs(headers.get("retry-after")),
    requestId: headers.get("x-request-id"),
    quota: readQuota(headers),
  };
  if (status < 400) {
    const target = headers.get("location") ?? "elsewhere";
    return new EmendError("invalid_response", `${deps.baseUrl} redirects to ${target}; set that as baseUrl`, details);
  }
  return new EmendError(kindOf(status), errorText(answer.text) ?? `the service answered ${status}`, details);
}

/** The error for a request without a response. */
export function noAnswer(deps: Connection, isLate: boolean, cause: unknown): EmendError {
  if (isLate) return new EmendError("timeout", `no answer from ${deps.baseUrl} in time`, { cause });
  return new EmendError("network", `${deps.baseUrl} cannot be reached: ${reason(cause)}`, { cause });
}

/** `fetch` hides the reason one or two causes below "fetch failed". */
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

/** Null if a response has no quota headers. */
export function readQuota(headers: Headers): Quota | null {
  const [, of] = /^"(create|message)"/.exec(headers.get("ratelimit") ?? "") ?? [];
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) =>
    Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN),
  ) as [number, number, number];
  if ((of !== "create" && of !== "message") || Number.isNaN(limit + remaining + reset)) return null;
  return { of, limit, remaining, resetsAt: new Date(reset * 1000) };
}

/** Parses `Retry-After` (seconds or an HTTP date). Null if absent or invalid. */
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

/** A response's JSON. A proxy's page or another service's JSON is an error. */
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
  const message = `${deps.baseUrl} returned something that is not an Emend ${name}; is baseUrl right?`;
  const requestId = response.headers.get("x-request-id");
  return new EmendError("invalid_response", message, { status: response.status, requestId, cause });
}
