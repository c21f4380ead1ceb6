import type { Connection } from "./connection.ts";
import { noAnswer, refusal } from "./refusal.ts";

export interface ApiRequest {
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
export async function exchange(
  deps: Connection,
  request: ApiRequest,
  signal: AbortSignal | undefined,
): Promise<ApiResponse> {
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
