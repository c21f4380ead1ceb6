import { Fault } from "@emend/base/fault.ts";

export type ForgeFaultCode =
  /** The host refused, and would again. */
  | "forge_rejected"
  /** The host did not answer, or limits requests. */
  | "forge_unavailable"
  | "repository_unavailable"
  /** What the caller wrote: an address or a token that the host cannot have. */
  | "invalid_request"
  | "unavailable"
  | "not_found"
  | "internal";

export class ForgeFault extends Fault<ForgeFaultCode> {}
