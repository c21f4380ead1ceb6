import { expect, test } from "vitest";
import { parseExpiry, parsePort, parseRange } from "./options.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");

test.each([
  ["12h", "2026-01-01T12:00:00.000Z"],
  ["90d", "2026-04-01T00:00:00.000Z"],
  ["1w", "2026-01-08T00:00:00.000Z"],
  ["1y", "2027-01-01T00:00:00.000Z"],
  ["2026-02-28", "2026-02-28T23:59:59.999Z"],
])("reads %s as the time at which a key expires", (text, expected) => {
  expect(parseExpiry(text, nowMs).toISOString()).toBe(expected);
});

test.each(["", "90", "90 d", "-1d", "1.5d", "0d", "2025-12-31", "2026-02-30", "99y", "999999y", "tomorrow"])(
  "refuses %j as an expiry",
  (text) => {
    expect(() => parseExpiry(text, nowMs)).toThrow();
  },
);

test("gathers addresses and ranges of both families", () => {
  const ranges = ["203.0.113.7", "203.0.113.0/24", "2001:db8::/32", "::1"];
  expect(ranges.reduce<readonly string[]>((earlier, text) => parseRange(text, earlier), [])).toEqual(ranges);
});

test.each(["", "localhost", "1.2.3", "1.2.3.4/", "1.2.3.4/33", "::/129", "1.2.3.4/8/8", "1.2.3.4/-1"])(
  "refuses %j as a range",
  (text) => {
    expect(() => parseRange(text)).toThrow();
  },
);

test("takes ports from 0 to 65535 and no other text", () => {
  expect([parsePort("0"), parsePort("65535")]).toEqual([0, 65_535]);
  for (const text of ["", "65536", "-1", "80.5", "0x50", "http"]) expect(() => parsePort(text)).toThrow();
});
