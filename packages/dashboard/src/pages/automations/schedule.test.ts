import { expect, it } from "vitest";
import { readSchedule, scheduleWords, toExpression } from "./schedule.ts";

it.each([
  ["0 9 * * 1", "every Monday at 9:00, UTC"],
  ["30 17 * * *", "every day at 17:30, UTC"],
  ["5 0 * * 1-5", "Monday to Friday at 0:05, UTC"],
  ["0 9 * * 0", "every Sunday at 9:00, UTC"],
  ["15 8 31 * *", "on day 31 of each month at 8:15, UTC"],
  ["*/5 * * * *", "on the schedule */5 * * * *, UTC"],
  ["0 9 1 * 1", "on the schedule 0 9 1 * 1, UTC"],
  ["0 25 * * *", "on the schedule 0 25 * * *, UTC"],
])("%s: %s", (expression, words) => {
  expect(scheduleWords({ expression, timezone: "UTC" })).toBe(words);
  expect(toExpression(readSchedule(expression))).toBe(expression);
});

it("knows both numbers of Sunday", () => {
  expect(readSchedule("0 9 * * 7")).toEqual(readSchedule("0 9 * * 0"));
});
