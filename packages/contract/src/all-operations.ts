import type { InputOf, OutputOf } from "./operation.ts";
import { webhookOperations } from "./webhook-operations.ts";

/** Every operation outside of `/v2/agent`, by its name. */
export const operations = { ...webhookOperations };

export type OperationName = keyof typeof operations;
export type OperationInput<Name extends OperationName> = InputOf<(typeof operations)[Name]>;
export type OperationOutput<Name extends OperationName> = OutputOf<(typeof operations)[Name]>;
