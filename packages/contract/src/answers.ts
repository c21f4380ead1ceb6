import type { RequestErrorCode } from "./errors.ts";

/** Response headers, as JSON Schema. `x-always` marks headers that are always present. */
export const answerHeaders = {
  requestId: {
    type: "string",
    pattern: "^[\\w.:-]{1,128}$",
    description:
      "The request's id in the server's log: your own `X-Request-Id`, or a new one. Include it in bug reports.",
    "x-always": true,
  },
  cacheControl: { type: "string", const: "no-store", description: "Responses must not be stored.", "x-always": true },
  streamCacheControl: {
    type: "string",
    const: "no-store, no-transform",
    description: "Responses must not be stored or transformed.",
    "x-always": true,
  },
  accelBuffering: {
    type: "string",
    const: "no",
    description: "Tells proxies not to buffer events.",
    "x-always": true,
  },
  varyAccept: { type: "string", const: "accept", description: "The format depends on `Accept`.", "x-always": true },
  location: { type: "string", format: "uri", description: "The URL of the new job.", "x-always": true },
  etag: {
    type: "string",
    pattern: '^"[\\x21\\x23-\\x7e]+"$',
    description: "Changes whenever the job's body does.",
    "x-always": true,
  },
  retryAfter: {
    type: "string",
    pattern: "^[0-9]+$",
    description: "Seconds to wait before you retry.",
    "x-always": true,
  },
  pollAfter: {
    type: "string",
    pattern: "^[0-9]+$",
    description: "While the job is active: the suggested number of seconds before the next poll.",
  },
  preferenceApplied: {
    type: "string",
    pattern: "^wait=[0-9]+$",
    description: "The wait that was applied, in seconds; present if the request had one.",
  },
  idempotentReplayed: {
    type: "string",
    const: "true",
    description: "The key was used before with the same body, so this is the first response again.",
  },
  rateLimitPolicy: {
    type: "string",
    description: 'The quota: `"create";q=<uses>;w=<seconds>`, after the IETF draft on rate limit headers.',
    "x-always": true,
  },
  rateLimit: {
    type: "string",
    description: 'The remaining quota: `"create";r=<uses left>;t=<seconds until one more is available>`.',
    "x-always": true,
  },
  rateLimitLimit: { type: "string", pattern: "^[0-9]+$", description: "Allowed uses in any hour.", "x-always": true },
  rateLimitRemaining: { type: "string", pattern: "^[0-9]+$", description: "Remaining uses.", "x-always": true },
  rateLimitReset: {
    type: "string",
    pattern: "^[0-9]+$",
    description: "When one more use is available, in seconds since 1970.",
    "x-always": true,
  },
  wwwAuthenticate: { type: "string", const: "Bearer", description: "How to authenticate.", "x-always": true },
} as const;

/** On every response. */
export const everyAnswerHeaders = {
  "Cache-Control": answerHeaders.cacheControl,
  "X-Request-Id": answerHeaders.requestId,
};

/** The quota's state, on accepted creates and on 429. */
export const rateLimitHeaders = {
  "RateLimit-Policy": answerHeaders.rateLimitPolicy,
  RateLimit: answerHeaders.rateLimit,
  "X-RateLimit-Limit": answerHeaders.rateLimitLimit,
  "X-RateLimit-Remaining": answerHeaders.rateLimitRemaining,
  "X-RateLimit-Reset": answerHeaders.rateLimitReset,
};

/** One documented response, in the form that routes and the OpenAPI document share. */
interface Answer {
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
  scopeTooSmall: refusal("forbidden", "The key's scope is too small."),
  conflict: refusal("conflict", "Its state does not allow it; the message says why."),
  methodNotAllowed: refusal("method_not_allowed", "Method not allowed.", {
    Allow: { type: "string", description: "The allowed methods.", "x-always": true },
  }),
  unsupportedMediaType: refusal("unsupported_media_type", "The body is not `application/json`, or is compressed."),
  payloadTooLarge: refusal("payload_too_large", "The body is larger than 2 MiB."),
  invalidRequest: refusal("invalid_request", "The body, a header or the query is not valid; the message says why."),
  idempotencyConflict: refusal("conflict", "The idempotency key was used before with another body."),
  messageConflict: refusal(
    "conflict",
    "The job is archived, its pull request is merged or closed, or the idempotency key was used before with another body.",
  ),
  publishConflict: refusal(
    "conflict",
    "The job is no completed preview with changes, or its work is no longer stored.",
  ),
  approvalConflict: refusal("conflict", "The job does not wait for approval, or somebody answered before."),
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
  tooManyUploads: refusal(
    "rate_limited",
    "The project has too many uploads that no prompt names, or the key sends too many at once.",
    retryAfter,
  ),
  tooManyDiffs: refusal("rate_limited", "The key reads too many large diffs at once.", retryAfter),
  internal: refusal("internal", "An internal error."),
  unavailable: refusal("unavailable", "The database is temporarily unavailable.", retryAfter),
};
