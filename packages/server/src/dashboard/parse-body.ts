import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Clean } from "typebox/value";
import { AppError } from "../errors.ts";

/**
 * A body of this form, or `invalid_request` with its first mistake in words. Nothing is coerced, and what the form does
 * not name is left out: spread into an input, it would say what only the server may.
 */
export function bodyParser<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const checker = Compile(schema);
  return (body) => {
    if (checker.Check(body)) return Clean(schema, body) as Static<T>;
    const [error] = checker.Errors(body);
    const field = error?.instancePath.slice(1).replaceAll("/", ".") || "The body";
    throw new AppError("invalid_request", { publicMessage: `${field} ${error?.message ?? "is not valid"}.` });
  };
}
