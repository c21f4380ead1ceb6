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
