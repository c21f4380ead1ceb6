import type { RequestErrorCode } from "./errors.ts";
import { answerHeaders, everyAnswerHeaders, rateLimitHeaders } from "./headers.ts";

/** One documented response, in the form that routes and the OpenAPI document share. */
export interface Answer {
  description: string;
  headers: Record<string, object>;
  content?: Record<string, { schema: object }>;
  type?: "null";
}

/** A response with a job. */
export function jobAnswer(description: string, headers: Record<string, object>): Answer {
  return jsonAnswer(description, "AgentJob", headers);
}

/** A response whose body has the schema of this name. */
export function jsonAnswer(description: string, schemaId: string, headers: Record<string, object> = {}): Answer {
  return {
    description,
    headers: { ...everyAnswerHeaders, ...headers },
    content: { "application/json": { schema: { $ref: `${schemaId}#` } } },
  };
}

/** A response without a body. */
export function emptyAnswer(description: string, headers: Record<string, object>): Answer {
  return { description, headers: { ...everyAnswerHeaders, ...headers }, type: "null" };
}

function refusal(
  code: RequestErrorCode | readonly RequestErrorCode[],
  description: string,
  headers: Record<string, object> = {},
): Answer {
  const errorHeader = {
    type: "string",
    ...(typeof code === "string" ? { const: code } : { enum: code }),
    description: "The error's stable code.",
    "x-always": true,
  };
  return {
    description,
    headers: { ...everyAnswerHeaders, "emend-error": errorHeader, ...headers },
    content: { "application/json": { schema: { $ref: "Error#" } } },
  };
}

/** For a response that has these headers only in some cases. */
function sometimes(headers: Record<string, object>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, header]) => [name, { ...header, "x-always": undefined }]),
  );
}

const retryAfter = { "Retry-After": answerHeaders.retryAfter };

/** Every refusal, by status, in the order of the checks. */
export const refusals = {
  unauthorized: refusal(
    "unauthorized",
    "The key is missing, malformed, unknown, expired or revoked, or the address is not on its allow-list.",
    { "WWW-Authenticate": answerHeaders.wwwAuthenticate },
  ),
  notFound: refusal(
    "not_found",
    "The project, or what the path names in it, does not exist, or the key does not cover it.",
  ),
  forbidden: refusal("forbidden", "The key is read-only."),
  methodNotAllowed: refusal("method_not_allowed", "Method not allowed.", {
    Allow: { type: "string", description: "The allowed methods.", "x-always": true },
  }),
  unsupportedMediaType: refusal("unsupported_media_type", "The body is not `application/json`, or is compressed."),
  payloadTooLarge: refusal("payload_too_large", "The body is larger than 2 MiB."),
  invalidRequest: refusal("invalid_request", "The body, a header or the query is not valid; the message says why."),
  idempotencyConflict: refusal("conflict", "The idempotency key was used before with another body."),
  messageConflict: refusal(
    "conflict",
    "The job is active or archived, its pull request is merged or closed, or the idempotency key was used before with another body.",
  ),
  retryConflict: refusal("conflict", "The job did not fail, or a retry would end the same way."),
  nameConflict: refusal("conflict", "The project already has an automation of this name."),
  claimConflict: refusal("conflict", "The claim is not `changed`."),
  publishing: refusal("conflict", "The job is being published and its outcome is not known yet.", retryAfter),
  rateLimited: refusal(
    ["rate_limited", "budget_exceeded"],
    "The project's quota is used up, or a monthly budget is (`budget_exceeded`; without the headers of the quota).",
    { ...retryAfter, ...sometimes(rateLimitHeaders) },
  ),
  tooManyStreams: refusal("rate_limited", "The key has too many event streams open.", retryAfter),
  tooManyDiffs: refusal("rate_limited", "The key reads too many large diffs at once.", retryAfter),
  internal: refusal("internal", "An internal error."),
  unavailable: refusal("unavailable", "The database is temporarily unavailable.", retryAfter),
};
