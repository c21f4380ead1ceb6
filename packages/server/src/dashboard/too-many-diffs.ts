import { AppError } from "../errors.ts";

export function tooManyDiffs(): AppError {
  return new AppError("rate_limited", {
    publicMessage: "Too many large diffs are open at once. Try again in a moment.",
    retryAfterMs: 1_000,
  });
}
