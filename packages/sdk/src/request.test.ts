import { expect, test } from "vitest";
import { EmendError } from "./errors.ts";
import { retryAfterMs, retryWaitMs } from "./request.ts";

test("waits longer with each try, up to a bound, spread by chance", () => {
  const error = new EmendError("network", "reset");
  expect([0, 1, 2, 3].map((retries) => retryWaitMs(error, retries, 1))).toEqual([250, 500, 1000, 2000]);
  expect(retryWaitMs(error, 30, 1)).toBe(8000);
  expect(retryWaitMs(error, 3, 0)).toBe(0);
});

test("adds the spread after the time that the service asked for", () => {
  const error = new EmendError("unavailable", "away", { status: 503, retryAfterMs: 3000 });
  expect(retryWaitMs(error, 0, 0)).toBe(3000);
  expect(retryWaitMs(error, 0, 1)).toBe(3250);
});

test("retries a conflict only where the service says when", () => {
  expect(retryWaitMs(new EmendError("conflict", "other body", { status: 409 }), 0)).toBeNull();
  expect(retryWaitMs(new EmendError("conflict", "busy", { status: 409, retryAfterMs: 1000 }), 0, 0)).toBe(1000);
});

test("reads Retry-After as seconds and as a date", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  expect(retryAfterMs("7", nowMs)).toBe(7000);
  expect(retryAfterMs("Thu, 01 Jan 2026 00:00:05 GMT", nowMs)).toBe(5000);
  expect(retryAfterMs("Wed, 31 Dec 2025 23:59:00 GMT", nowMs)).toBe(0);
  expect(retryAfterMs("soon", nowMs)).toBeNull();
  expect(retryAfterMs(null, nowMs)).toBeNull();
});
