import type { FailureCode, RequestErrorCode } from "@emend/contract";

/** Codes of refused requests (`http/errors.ts` maps each to its status) and of failed runs. */
export type ErrorCode = RequestErrorCode | FailureCode;

/**
 * The one error type. `publicMessage` is shown to clients and must contain no secret and no local path. `message` (for
 * logs) and `cause` may say more.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly retryable: boolean;
  /** When to retry, if the remote service or a window says so. */
  readonly retryAfterMs: number | undefined;
  /** A rate limit, which applies to everybody with the same credential. */
  readonly isRateLimit: boolean;
  /** It is certain that nothing happened: the far end refused before it acted, or was never reached. */
  readonly isWithoutEffect: boolean;
  /** What was sent may still take effect, so nothing may be given up or sent again yet. */
  readonly isPending: boolean;

  constructor(
    code: ErrorCode,
    options: {
      publicMessage: string;
      message?: string;
      retryable?: boolean;
      retryAfterMs?: number;
      isRateLimit?: boolean;
      isWithoutEffect?: boolean;
      isPending?: boolean;
      cause?: unknown;
    },
  ) {
    super(options.message ?? options.publicMessage, { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.publicMessage = options.publicMessage;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.isRateLimit = options.isRateLimit ?? false;
    this.isWithoutEffect = options.isWithoutEffect ?? this.isRateLimit;
    this.isPending = options.isPending ?? false;
  }
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}

export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
