/**
 * The one shape of an error that a person may read. `publicMessage` is shown to clients and must contain no secret and
 * no local path. `message` (for logs) and `cause` may say more. Each package names its own codes.
 */
export class Fault<Code extends string = string> extends Error {
  readonly code: Code;
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
    code: Code,
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
    this.name = "Fault";
    this.code = code;
    this.publicMessage = options.publicMessage;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.isRateLimit = options.isRateLimit ?? false;
    this.isWithoutEffect = options.isWithoutEffect ?? this.isRateLimit;
    this.isPending = options.isPending ?? false;
  }
}

export function isFault<Code extends string>(error: unknown, code?: Code): error is Fault<Code> {
  return error instanceof Fault && (code === undefined || error.code === code);
}

export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`);
}
