import type { Connection } from "./connection.ts";
import { EmendError, type EmendErrorKind } from "./errors.ts";
import { retryAfterMs } from "./retry-after.ts";

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
