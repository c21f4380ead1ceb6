import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { AppError } from "../errors.ts";

/** A body of this form, or `invalid_request` with its first mistake in words. Nothing is coerced. */
export function bodyParser<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const checker = Compile(schema);
  return (body) => {
    if (checker.Check(body)) return body as Static<T>;
    const [error] = checker.Errors(body);
    const field = error?.instancePath.slice(1).replaceAll("/", ".") || "The body";
    throw new AppError("invalid_request", { publicMessage: `${field} ${error?.message ?? "is not valid"}.` });
  };
}
