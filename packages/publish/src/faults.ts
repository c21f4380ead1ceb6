import { Fault } from "@emend/base/fault.ts";

export type PublishFaultCode =
  /** The host refused, and would again. */
  | "forge_rejected"
  /** The host did not answer, limits requests, or it is unknown what came of one. */
  | "forge_unavailable"
  | "internal";

export class PublishFault extends Fault<PublishFaultCode> {}
