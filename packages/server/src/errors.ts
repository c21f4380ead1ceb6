import type { FailureCode, RequestErrorCode } from "@emend/contract";

/** Codes a request can be refused with (`http/errors.ts` maps each to its status) or a run can end with. */
export type ErrorCode = RequestErrorCode | FailureCode;

/**
 * The one error type. `publicMessage` is shown to clients and must hold no secret and no path of this machine;
 * `message` (for logs) and `cause` may say more.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly publicMessage: string;
  readonly retryable: boolean;
  /** When to come back, where the far end or a window said so. */
  readonly retryAfterMs: number | undefined;
  /** A rate limit: it holds for everybody who asks under the same credential. */
  readonly isRateLimit: boolean;

  constructor(
    code: ErrorCode,
    options: {
      publicMessage: string;
      message?: string;
      retryable?: boolean;
      retryAfterMs?: number;
      isRateLimit?: boolean;
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
  }
}

export function isAppError(error: unknown, code?: ErrorCode): error is AppError {
  return error instanceof AppError && (code === undefined || error.code === code);
}
