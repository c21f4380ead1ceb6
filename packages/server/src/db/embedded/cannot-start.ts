import { AppError } from "../../errors.ts";

interface Options {
  advice?: string;
  cause?: unknown;
  /** Something is in the way, but nothing is broken. */
  isConflict?: boolean;
}

/** Why the embedded Postgres cannot run here, in one line that ends with what to do. */
export function cannotStart(why: string, options: Options = {}): AppError {
  const advice = options.advice ?? "Set EMEND_DATABASE_URL to a Postgres of your own.";
  return new AppError(options.isConflict ? "conflict" : "unavailable", {
    publicMessage: "the database is not available",
    message: `the embedded Postgres cannot start: ${why.replace(/\s+/g, " ").trim()}. ${advice}`,
    cause: options.cause,
  });
}
