import { requestErrorCodes } from "@emend/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import { isDatabaseUnavailable } from "../db/is-unavailable.ts";
import { AppError } from "../errors.ts";
import type { Logger } from "../lib/logger.ts";
import { aboutRequest } from "./about-request.ts";
import { type Refusal, refuse, retryAfter } from "./refuse.ts";

const databaseRetryMs = 1000;

/** Turns whatever a handler, a parser or the framework threw into one of our own answers. */
export function createErrorHandler(deps: { log: Logger }) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const refusal = refusalOf(error);
    if (refusal.code === "internal") deps.log.error({ err: error, ...aboutRequest(request) }, "request failed");
    if (refusal.code === "unavailable") deps.log.warn({ err: error, ...aboutRequest(request) }, "database unavailable");
    refuse(reply, refusal);
  };
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof AppError) return fromAppError(error);
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown };
  switch (code) {
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return { code: "unsupported_media_type", message: "The body must be application/json." };
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return { code: "payload_too_large", message: "The body is larger than 2 MiB." };
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return { code: "invalid_request", message: "The body's length differs from Content-Length." };
  }
  // A body that broke off, and whatever else the framework lays at the client's door.
  if (typeof statusCode === "number" && statusCode >= 400 && statusCode < 500) {
    return { code: "invalid_request", message: "The request could not be read." };
  }
  // Only now: a client that breaks off looks like a lost connection too.
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
