import type { AgentFaultCode } from "@emend/agent";
import { Fault } from "@emend/base/fault.ts";
import type { FailureCode, RequestErrorCode } from "@emend/contract";
import type { ForgeFaultCode } from "@emend/forges";
import type { PublishFaultCode } from "@emend/publish";
import type { TreeFaultCode } from "@emend/tree";

/** Codes of refused requests (`http/errors.ts` maps each to its status) and of failed runs. */
type OwnCode = RequestErrorCode | FailureCode;
/** Those of the packages below, too: one that is unknown here does not compile where codes are mapped. */
export type ErrorCode = OwnCode | TreeFaultCode | AgentFaultCode | ForgeFaultCode | PublishFaultCode;

export class AppError extends Fault<ErrorCode> {}

/** Of the server itself or of a package that it uses. */
export function isAppError(error: unknown, code?: ErrorCode): error is Fault<ErrorCode> {
  return error instanceof Fault && (code === undefined || error.code === code);
}
