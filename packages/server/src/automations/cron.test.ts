import { expect, it } from "vitest";
import { nextDue } from "./fire-automations.ts";

const after = (iso: string) => new Date(iso);

it.each([
  ["0 9 * * 1", "UTC", "2026-11-15T12:00:00Z", "2026-11-16T09:00:00.000Z"],
  ["0 9 * * 1", "America/New_York", "2026-11-15T12:00:00Z", "2026-11-16T14:00:00.000Z"],
  ["*/15 * * * *", "UTC", "2026-11-15T12:00:00Z", "2026-11-15T12:15:00.000Z"],
  ["30 2 * * *", "Asia/Kolkata", "2026-11-15T12:00:00Z", "2026-11-15T21:00:00.000Z"],
  ["0 0 29 2 *", "UTC", "2026-11-15T12:00:00Z", "2028-02-29T00:00:00.000Z"],
  // A time that daylight saving skips runs right after the gap. A time that occurs twice runs once.
  ["30 2 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T01:00:00.000Z"],
  ["30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", "2027-10-31T00:30:00.000Z"],
])("%s in %s after %s is at %s", (expression, timezone, from, wanted) => {
  expect(nextDue({ expression, timezone }, after(from)).toISOString()).toBe(wanted);
});

it("fires once in the night that has an hour twice", () => {
  const trigger = { expression: "30 2 * * *", timezone: "Europe/Berlin" };
  const first = nextDue(trigger, after("2027-10-30T12:00:00Z"));
  expect(nextDue(trigger, first).toISOString()).toBe("2027-11-01T01:30:00.000Z");
});

it.each([
  ["", "UTC", /cron expression/],
  ["* * * *", "UTC", /cron expression/],
  ["* * * * * *", "UTC", /cron expression/],
  ["61 * * * *", "UTC", /cron expression/],
  ["0 0 31 2 *", "UTC", /never matches/],
  ["@daily", "UTC", /cron expression/],
  ["0 9 * * 1,".padEnd(101, "1"), "UTC", /cron expression/],
  ["0 9 * * 1", "Mars/Olympus", /time zone/],
  ["0 9 * * 1", "", /time zone/],
])("refuses %j in %j, in words", (expression, timezone, words) => {
  expect(() => nextDue({ expression, timezone }, after("2026-11-15T12:00:00Z"))).toThrow(words);
});
