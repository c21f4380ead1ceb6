import { Fault } from "@emend/base/fault.ts";

export type AgentFaultCode =
  | "model_unavailable"
  | "instruction_not_understood"
  | "policy_denied"
  | "repository_unavailable"
  | "invalid_request"
  | "internal";

export class AgentFault extends Fault<AgentFaultCode> {}
