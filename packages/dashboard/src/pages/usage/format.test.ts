import { expect, it } from "vitest";
import { formatCount, formatShare, formatUsd } from "./usage-page.tsx";

it("shortens what is large and keeps what is small", () => {
  expect([0, 9_999, 12_000, 12_345, 999_999, 1_500_000].map(formatCount)).toEqual([
    "0",
    "9999",
    "12 k",
    "12.3 k",
    "1 M",
    "1.5 M",
  ]);
  expect([0, 0.004, 0.5, 12].map(formatUsd)).toEqual(["$0", "< $0.01", "$0.50", "$12.00"]);
});

it("gives no share of nothing", () => {
  expect(formatShare(0, 0)).toBe("–");
  expect(formatShare(2, 3)).toBe("67 %");
});
