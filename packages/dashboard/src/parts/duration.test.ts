import { expect, it } from "vitest";
import { durationOf } from "./format.ts";

it("says how long something took in two units at most, also where it went on days later", () => {
  const hourMs = 3_600_000;
  expect([-5, 4_210, 9_960, 59_400, 60_000, 725_000].map(durationOf)).toEqual([
    "0.0 s",
    "4.2 s",
    "10 s",
    "59 s",
    "1 min 0 s",
    "12 min 5 s",
  ]);
  expect([hourMs, 47.5 * hourMs, 53 * hourMs].map(durationOf)).toEqual(["1 h 0 min", "47 h 30 min", "2 d 5 h"]);
});
