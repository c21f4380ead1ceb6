import type { Socket } from "node:net";
import type { Logger } from "@emend/base/logger.ts";
import { type RequestErrorCode, requestErrorCodes } from "@emend/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isDatabaseUnavailable } from "../db/transaction.ts";
import { type AppError, isAppError } from "../errors.ts";
import { createdJobOf, newRequestId, requestId } from "../lib/id.ts";

const databaseRetryMs = 1000;

/** Turns any error of a handler, a parser or the framework into one of our responses, or into another protocol's. */
export function createErrorHandler(
  deps: { log: Logger },
  send: (reply: FastifyReply, refusal: Refusal, error: unknown) => void = refuse,
) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(error, request.routeOptions.bodyLimit);
    if (refusal.code === "internal") deps.log.error({ err: error, ...aboutRequest(request) }, "request failed");
    if (refusal.code === "unavailable") deps.log.warn({ err: error, ...aboutRequest(request) }, "database unavailable");
    send(reply, refusal, error);
  };
}

const mebibyte = 1024 * 1024;

function sizeOf(bytes: number): string {
  return bytes >= mebibyte ? `${bytes / mebibyte} MiB` : `${bytes / 1024} KiB`;
}

function refusalOf(error: unknown, bodyBytesMax: number): Refusal {
  if (isAppError(error)) return fromAppError(error);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  switch (code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return { code: "unsupported_media_type", message: "The body must be application/json." };
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return { code: "payload_too_large", message: `The body is larger than ${sizeOf(bodyBytesMax)}.` };
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return { code: "invalid_request", message: "The body's length differs from Content-Length." };
  }
  // An aborted body, and other client errors of the framework.
  if (typeof statusCode === "number" && statusCode >= 400 && statusCode < 500) {
    return { code: "invalid_request", message: "The request could not be read." };
  }
  // Checked last: an aborted request also looks like a lost connection.
  if (isDatabaseUnavailable(error)) {
    return {
      code: "unavailable",
      message: "The service is temporarily unavailable.",
      headers: retryAfter(databaseRetryMs),
    };
  }
  return { code: "internal", message: "Internal error." };
}

function fromAppError(error: AppError): Refusal {
  const code = requestErrorCodes.find((known) => known === error.code);
  if (code === undefined || code === "internal") return { code: "internal", message: "Internal error." };
  const headers = error.retryAfterMs === undefined ? {} : retryAfter(error.retryAfterMs);
  return { code, message: error.publicMessage, headers };
}

export interface Refusal {
  code: RequestErrorCode;
  message: string;
  /** In addition to those of every refusal. */
  headers?: Readonly<Record<string, string>>;
}

/** One body for all reasons, so that nobody learns which keys exist. */
export const unauthorized: Refusal = {
  code: "unauthorized",
  message: "A valid admin API key is required: Authorization: Bearer <key>.",
  headers: { "www-authenticate": "Bearer" },
};
/** The same for a missing project and one that the key does not cover. */
export const projectNotFound: Refusal = { code: "not_found", message: "Project not found." };
export const jobNotFound: Refusal = { code: "not_found", message: "Job not found." };
export const jobPublishing: Refusal = {
  code: "conflict",
  message: "The job is being published. Try again when it has ended.",
  headers: { "retry-after": "5" },
};
export const tooManyStreams: Refusal = {
  code: "rate_limited",
  message: "Too many open event streams. Close some, or poll the job instead.",
  headers: { "retry-after": "10" },
};
export const tooManyDiffs: Refusal = {
  code: "rate_limited",
  message: "Too many large diffs at once. Read them one at a time.",
  headers: { "retry-after": "1" },
};
export const routeNotFound: Refusal = { code: "not_found", message: "Not found." };
/** For clients of the older API, whose paths this service never had. */
export const olderVersion: Refusal = {
  code: "not_found",
  message: "This service speaks version 2. Use /v2/agent/{projectId}/job; docs/migrating.md has the table.",
};
export const readOnlyKey: Refusal = { code: "forbidden", message: "This key is read-only." };
export const forOwners: Refusal = { code: "forbidden", message: "This takes an owner. No key may do it." };
export const scopeTooSmall = (needed: string): Refusal => ({
  code: "forbidden",
  message: `This takes a key that may ${needed}. A maintainer can create one.`,
});

/** The only way to send an error: `{ "error": string }`, with its code in a header. */
export function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
  reply.code(errorStatus[refusal.code]);
  reply.header("content-type", "application/json; charset=utf-8");
  reply.header("cache-control", "no-store");
  reply.header("emend-error", refusal.code);
  if (refusal.headers) reply.headers(refusal.headers);
  return reply.send(JSON.stringify({ error: refusal.message }));
}

/** `Retry-After` in whole seconds, rounded up. */
export function retryAfter(ms: number): { "retry-after": string } {
  return { "retry-after": String(Math.max(1, Math.ceil(ms / 1000))) };
}

/** The one table from codes to statuses. */
export const errorStatus: Readonly<Record<RequestErrorCode, number>> = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  payload_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  budget_exceeded: 429,
  internal: 500,
  unavailable: 503,
};

/** Answers malformed HTTP, which no route or hook sees, in the same form as every other error. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // A response that has started must not be followed by another.
  const current = (socket as Socket & { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, message] = statusOf(error);
  const body = JSON.stringify({ error: message });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      "cache-control: no-store",
      "emend-error: invalid_request",
      `x-request-id: ${newRequestId()}`,
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

function statusOf(error: NodeJS.ErrnoException): [string, string] {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return ["431 Request Header Fields Too Large", "The request headers are too large."];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["408 Request Timeout", "The request did not arrive in time."];
    default:
      return ["400 Bad Request", "The request is not valid HTTP."];
  }
}

const idLengthMax = 64;

/** The request's fields for every log line. Its path is untrusted; its route is ours. */
export function aboutRequest(request: FastifyRequest): Record<string, string | undefined> {
  const { projectId, id } = (request.params ?? {}) as { projectId?: string; id?: string };
  const isOfJob = request.routeOptions.url?.includes("/job") === true;
  return {
    requestId: requestId(request.raw),
    method: request.method,
    route: request.routeOptions.url,
    projectId: projectId?.slice(0, idLengthMax),
    jobId: (isOfJob ? id?.slice(0, idLengthMax) : undefined) ?? createdJobOf(request.raw),
  };
}
