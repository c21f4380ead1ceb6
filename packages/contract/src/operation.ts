import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";

/**
 * Who may call an operation: people by their role, keys by their scope (`read` is as much as a viewer, `manage` as much as
 * a maintainer). The console may call all of them.
 */
export type Access = "viewer" | "maintainer" | "owner";

/**
 * One thing that clients can do, written once. The route below `/v2`, the one of the dashboard, the OpenAPI document, the
 * typed calls of dashboard and command line, and the row of the access tests are drawn from it.
 */
export interface Operation<Input extends TProperties = TProperties, Output extends TSchema = TSchema> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/v2`. Its parameters are fields of the input. */
  path: string;
  access: Access;
  tag: string;
  /** In the imperative: also what the command line says that it does. */
  summary: string;
  input: TObject<Input>;
  output: Output;
}

export type InputOf<Row extends Operation> = Static<Row["input"]>;
export type OutputOf<Row extends Operation> = Static<Row["output"]>;

export function operation<Input extends TProperties, Output extends TSchema>(
  row: Omit<Operation<Input, Output>, "input"> & { input: Input },
): Operation<Input, Output> {
  return { ...row, input: Type.Object(row.input) };
}

/** The database refuses some other texts, such as U+0000. */
export const Id = Type.String({ pattern: "^[0-9A-Za-z_-]{1,64}$" });
export const Time = Type.String({ format: "date-time" });
/** Of operations that answer nothing but that they were carried out. */
export const Done = Type.Object({});

/** The names of a path's parameters: `["id"]` for `/webhooks/:id/test`. */
export function parametersOf({ path }: Pick<Operation, "path">): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
}
