import type { Connection } from "./connection.ts";
import { EmendError, type EmendErrorKind } from "./errors.ts";
import { retryAfterMs } from "./retry-after.ts";

export interface ApiRequest {
  method: "GET" | "POST";
  /** Below the base URL, already encoded. */
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
  /** Added to the time-out: how long the service was asked to hold the answer back. */
  heldMsMax?: number;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** One request and its answer, read to the end. Every refusal is thrown as an EmendError. */
export async function exchange(
  deps: Connection,
  request: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
  const deadline = AbortSignal.timeout(deps.timeoutMs + (request.heldMsMax ?? 0));
  let response: ApiResponse;
  try {
    const answer = await deps.fetch(deps.baseUrl + request.path, {
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
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    response = { status: answer.status, headers: answer.headers, text: await answer.text() };
  } catch (cause) {
    signal?.throwIfAborted();
    if (deadline.aborted) throw new EmendError("timeout", `no answer from ${deps.baseUrl} in time`, { cause });
    throw new EmendError("network", `${deps.baseUrl} cannot be reached: ${reason(cause)}`, { cause });
  }
  if (response.status < 300 || response.status === 304) return response;
  throw refusal(deps, response);
}

/** `fetch` hides what happened one or two causes below "fetch failed". */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause instanceof Error) return reason(error.cause);
  const code = "code" in error && typeof error.code === "string" ? error.code : null;
  return error.message || code || error.name;
}

function refusal(deps: Connection, response: ApiResponse): EmendError {
  const { status, headers } = response;
  const details = { status, code: headers.get("emend-error"), retryAfterMs: retryAfterMs(headers.get("retry-after")) };
  if (status < 400) {
    const target = headers.get("location") ?? "elsewhere";
    return new EmendError("invalid_response", `${deps.baseUrl} redirects to ${target}; set that as baseUrl`, details);
  }
  return new EmendError(kindOf(status), errorText(response.text) ?? `the service answered ${status}`, details);
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
