import { Fault } from "@emend/base/fault.ts";

export type TreeFaultCode =
  /** The repository or its server: a wrong address, a refused token, or no answer. */
  | "repository_unavailable"
  /** What the caller asked for: a path that may not be written, a branch that does not exist. */
  | "invalid_request"
  /** It is unknown whether a push arrived, or the host limits them. */
  | "forge_unavailable"
  /** This machine is out of something for a moment. */
  | "unavailable"
  | "internal";

export class TreeFault extends Fault<TreeFaultCode> {}
