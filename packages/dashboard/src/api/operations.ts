import type { OperationInput, OperationName, OperationOutput } from "@emend/contract";
import { queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

/** Carries an operation of the API out, in the name of whoever is logged in. */
export function carryOut<Name extends OperationName>(
  name: Name,
  input: OperationInput<Name>,
  signal?: AbortSignal,
): Promise<OperationOutput<Name>> {
  return request(`/operations/${name}`, { body: input, signal });
}

/** An operation that reads, kept under its name and input. */
export function operationQuery<Name extends OperationName>(name: Name, input: OperationInput<Name>) {
  return queryOptions({ queryKey: [name, input], queryFn: ({ signal }) => carryOut(name, input, signal) });
}
