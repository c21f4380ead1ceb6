import { afterEach, expect, it, vi } from "vitest";
import { localTime } from "./format.ts";

afterEach(() => vi.unstubAllEnvs());

it("is the zone's of whoever looks, day and all", () => {
  vi.stubEnv("TZ", "Pacific/Auckland");
  expect(localTime("2026-12-31T23:05:00.000Z")).toBe("2027-01-01 12:05");
  vi.stubEnv("TZ", "America/New_York");
  expect(localTime("2027-01-01T03:05:00.000Z")).toBe("2026-12-31 22:05");
});
