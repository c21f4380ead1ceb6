import { AppError } from "../errors.ts";
import { assertNever } from "../lib/assert-never.ts";
import type { Trigger } from "./automation.ts";
import { nextDue } from "./cron.ts";

const patternsMax = 50;
const patternLengthMax = 300;
// Each takes a walk over the path; nobody needs so many.
const deepMax = 8;

export function checkTrigger(trigger: Trigger): void {
  switch (trigger.kind) {
    case "manual":
      return;
    case "cron":
      nextDue(trigger, new Date(0));
      return;
    case "push":
      for (const [name, patterns] of Object.entries({
        branches: trigger.branches,
        tags: trigger.tags,
        include: trigger.include,
        exclude: trigger.exclude,
      })) {
        checkPatterns(name, patterns);
      }
      return;
    default:
      assertNever(trigger);
  }
}

function checkPatterns(name: string, patterns: readonly string[]): void {
  if (patterns.length > patternsMax) throw invalid(`${name} has more than ${patternsMax} patterns.`);
  for (const pattern of patterns) {
    const isUsable = pattern !== "" && pattern.length <= patternLengthMax && !/[\p{Cc}]/u.test(pattern);
    if (!isUsable) throw invalid(`${name} contains a pattern that is empty, too long or invalid.`);
    if (pattern.split("/").filter((part) => part === "**").length > deepMax) {
      throw invalid(`"${pattern}" has more than ${deepMax} "**".`);
    }
    // A pattern that can match nothing would be a silence that nobody notices.
    if (/^\/|\/$|(^|\/)\.{1,2}(\/|$)|\\/.test(pattern)) {
      throw invalid(`"${pattern}" matches no path. Write it from the repository's root, for example "src/**".`);
    }
  }
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
