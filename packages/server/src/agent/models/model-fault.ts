import { APICallError } from "@ai-sdk/provider";
import { AppError } from "../../errors.ts";
import { shown } from "../shown.ts";
import { AnswerTooLong } from "./read-answer.ts";

const wordsCharactersMax = 500;
const retryAfterMsMax = 3_600_000;

/** Why a model did not answer, in its vendor's own words; whether it is worth another try, and when. */
export function modelFault(name: string, error: unknown, secret: string | null): AppError {
  const call = APICallError.isInstance(error) ? error : undefined;
  const status = call?.statusCode;
  const retryable = isRetryable(error, status);
  const words = shown(withoutSecret(wordsOf(error), secret), wordsCharactersMax);
  const retryAfterMs = readRetryAfter(call?.responseHeaders);
  return new AppError("model_unavailable", {
    publicMessage: `The model ${shown(name, 200)} did not answer${status === undefined ? "" : ` (${status})`}: ${words}`,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    // Not the error itself: it carries the whole request.
    cause: error instanceof Error ? new Error(words) : undefined,
  });
}

function isRetryable(error: unknown, status: number | undefined): boolean {
  if (isTooLong(error)) return false;
  // Without a status nothing was answered: the connection or the stream broke.
  if (status === undefined) return true;
  return status === 408 || status === 409 || status === 429 || status >= 500;
}

/** Itself, or what a client's own error was thrown for. */
function isTooLong(error: unknown): boolean {
  return error instanceof AnswerTooLong || (error instanceof Error && error.cause instanceof AnswerTooLong);
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message}${cause}` || error.name;
}

/** A vendor may quote the key that it refuses. */
function withoutSecret(words: string, secret: string | null): string {
  return secret === null || secret === "" ? words : words.replaceAll(secret, "[key]");
}

function readRetryAfter(headers: Record<string, string> | undefined): number | undefined {
  const inMs = Number(headers?.["retry-after-ms"]);
  if (headers?.["retry-after-ms"] && Number.isFinite(inMs)) return bounded(inMs);
  const text = headers?.["retry-after"];
  if (text === undefined) return undefined;
  const seconds = Number(text);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? bounded(ms) : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 0), retryAfterMsMax);
}
