import { Cron } from "croner";
import { AppError } from "../errors.ts";

const expressionLengthMax = 100;

/** The next time after an instant, by the clock on the wall of the time zone; refuses what is none, in words. */
export function nextDue(trigger: { expression: string; timezone: string }, after: Date): Date {
  const { expression, timezone } = trigger;
  assertTimezone(timezone);
  const next = parse(expression, timezone).nextRun(after);
  if (next) return next;
  throw invalid(`The cron expression "${expression}" never matches.`);
}

function parse(expression: string, timezone: string): Cron {
  const fields = expression.trim().split(/\s+/).length;
  if (expression.length <= expressionLengthMax && fields === 5) {
    try {
      return new Cron(expression, { timezone, mode: "5-part", paused: true });
    } catch {
      // Told below: the words of the parser are for programmers.
    }
  }
  throw invalid(
    `"${expression}" is not a cron expression. Use minute, hour, day of month, month and day of week, for example "0 9 * * 1".`,
  );
}

function assertTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw invalid(`"${timezone}" is not a time zone. Use an IANA name, for example "Europe/Berlin".`);
  }
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
