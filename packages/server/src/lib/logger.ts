import { type Logger, pino } from "pino";

export type { Logger };

/** Logs are for operators: static messages, data in fields, never a secret. */
export function createLogger(options: { level: string; name?: string }): Logger {
  return pino({
    level: options.level,
    base: options.name ? { name: options.name } : {},
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: ["req.headers.authorization", "req.headers.cookie", "*.token", "*.apiKey", "*.secret"],
      censor: "[hidden]",
    },
  });
}
