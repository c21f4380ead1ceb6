import { AppError } from "../../errors.ts";

/** Why the embedded Postgres cannot run here, in one line that ends with what to do. */
export function cannotStart(why: string, options: { advice?: string; cause?: unknown } = {}): AppError {
  const advice = options.advice ?? "Set EMEND_DATABASE_URL to a Postgres of your own.";
  return new AppError("unavailable", {
    publicMessage: "the database is not available",
    message: `the embedded Postgres cannot start: ${why.replace(/\s+/g, " ").trim()}. ${advice}`,
    cause: options.cause,
  });
}
