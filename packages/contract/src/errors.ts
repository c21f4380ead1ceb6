import { Type } from "typebox";

/** Why a job failed; stable for scripts. */
export const failureCodes = [
  "model_unavailable",
  "budget_exceeded",
  "timeout",
  "cancelled",
  "policy_denied",
  "branch_conflict",
  "forge_rejected",
  "forge_unavailable",
  "repository_unavailable",
  "instruction_not_understood",
  "internal",
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** The phases of a job's run. */
export const jobPhases = ["queued", "preparing", "working", "checking", "publishing"] as const;
export type JobPhase = (typeof jobPhases)[number];

/** Why a request was refused: the header `emend-error`, stable for scripts. `internal` is an error of the service. */
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
  "budget_exceeded",
  "unavailable",
  "internal",
] as const;
/** The same for the OpenAPI document. */
export const RequestErrorCodes = Type.Enum(requestErrorCodes, {
  type: "string",
  $id: "ErrorCode",
  description: "Why a request was refused: the header `emend-error`. Newer servers may send others.",
});
export type RequestErrorCode = (typeof requestErrorCodes)[number];
