import type { RequestErrorCode } from "@emend/contract";

/** The remaining quota after a request. */
export interface Quota {
  /** Creates and messages have separate quotas. */
  of: "create" | "message";
  /** Allowed uses in any hour. */
  limit: number;
  /** Remaining uses. */
  remaining: number;
  /** When there is room for one more. */
  resetsAt: Date;
}

/**
 * What went wrong, in one word to switch on.
 *
 * - `invalid_request`: the request can never succeed as it is (400, 405, 413, 415, or refused before sending)
 * - `unauthorized`: the key is missing, wrong, expired or revoked (401)
 * - `forbidden`: the key may read but not write (403)
 * - `not_found`: no such job or project, or the key does not cover it (404)
 * - `conflict`: the idempotency key was used with another body, or the job is in a state that refuses this (409)
 * - `rate_limited`: the project's quota is used up; see `retryAfterMs` (429)
 * - `unavailable`: the service or its database is away (5xx)
 * - `network`: no answer: refused, reset, name not found
 * - `timeout`: no answer in time
 * - `invalid_response`: an answer that is not Emend's, from a proxy or a wrong `baseUrl`
 * - `invalid_signature`: a webhook that the secret did not sign, or an old one
 */
export type EmendErrorKind =
  | "invalid_request"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "rate_limited"
  | "unavailable"
  | "network"
  | "timeout"
  | "invalid_response"
  | "invalid_signature";

/** The service's stable code. Newer services may send others. */
export type ErrorCode = RequestErrorCode | (string & {});

/** The only error that this client throws, except for an aborted signal's own reason. */
export class EmendError extends Error {
  readonly kind: EmendErrorKind;
  /** The HTTP status. Null if there was no response. */
  readonly status: number | null;
  /** The service's stable machine code, from the header `emend-error`. */
  readonly code: ErrorCode | null;
  /** The service's Retry-After. */
  readonly retryAfterMs: number | null;
  /** The request's id in the service's log, from the header `x-request-id`. Quote it in reports. */
  readonly requestId: string | null;
  /** The remaining quota, if the refusal has it (429). */
  readonly quota: Quota | null;

  constructor(
    kind: EmendErrorKind,
    message: string,
    details: {
      status?: number;
      code?: ErrorCode | null;
      retryAfterMs?: number | null;
      requestId?: string | null;
      quota?: Quota | null;
      cause?: unknown;
    } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = "EmendError";
    this.kind = kind;
    this.status = details.status ?? null;
    this.code = details.code ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.requestId = details.requestId ?? null;
    this.quota = details.quota ?? null;
  }
}
