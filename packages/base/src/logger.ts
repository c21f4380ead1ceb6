import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger };

/** Logs are for operators: static messages, data in fields, never a secret. */
export function createLogger(options: { level: string; name?: string; stream?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: options.name ? { name: options.name } : {},
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: describeError },
    redact: {
      paths: ["req.headers.authorization", "req.headers.cookie", "*.token", "*.apiKey", "*.secret"],
      censor: "[hidden]",
    },
  };
  return options.stream ? pino(settings, options.stream) : pino(settings);
}

/** An error's message and stack. Its other properties may contain a whole database client, or user input. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { type: error.name, ...(code !== undefined && { code }), ...words(error, code), ...cause };
}

/** A refusal of the rules quotes the prompt, which must not be in logs. */
function words(error: Error, code: unknown): { message?: string; stack?: string } {
  return code === "instruction_not_understood"
    ? {}
    : { message: error.message, ...(error.stack && { stack: error.stack }) };
}
