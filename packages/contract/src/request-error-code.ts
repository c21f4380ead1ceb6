/** Why a request was refused: the header `emend-error`, stable for scripts. `internal` is a fault of the service. */
export const requestErrorCodes = [
  "invalid_request",
  "unauthorized",
  "forbidden",
  "not_found",
  "method_not_allowed",
  "conflict",
  "payload_too_large",
  "unsupported_media_type",
  "rate_limited",
  "unavailable",
  "internal",
] as const;
export type RequestErrorCode = (typeof requestErrorCodes)[number];
