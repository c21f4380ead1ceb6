import { expect, test } from "vitest";
import { EmendError } from "./errors.ts";
import { createOutage, retryAfterMs, retryWaitMs } from "./request.ts";

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

const away = new EmendError("network", "refused");

/** Whether a request survives an outage, in simulated time. Each failing try takes `tryMs`. */
function survives(outageMs: number, tryMs: number, random: () => number, isReached = true): boolean {
  let nowMs = 0;
  const deps = { outageMsMax: 120_000, retryWaitMsMax: 30_000, heard: { isReached } };
  const outage = createOutage(deps, false, { nowMs: () => nowMs, random });
  for (;;) {
    const triedAtMs = nowMs;
    if (triedAtMs >= outageMs) return true;
    nowMs += tryMs;
    const waitMs = outage.nextPauseMs(away, triedAtMs);
    if (waitMs === null) return false;
    nowMs += waitMs;
  }
}

test("every request outlives an outage that is shorter than its time, however its pauses fall", () => {
  // A seeded generator: the same thousand cases each time, and the two extremes.
  let seed = 1;
  const chance = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (const tryMs of [1, 400, 30_000]) {
    for (const outageMs of [45_000, 110_000, 119_999]) {
      for (const random of [() => 0.001, () => 0.999, ...Array(1000).fill(chance)]) {
        expect(survives(outageMs, tryMs, random)).toBe(true);
      }
    }
    expect(survives(121_000 + 2 * tryMs, tryMs, chance)).toBe(false);
  }
});

test("a service that never answered is given up after seconds", () => {
  expect(survives(4_000, 1, () => 0.5, false)).toBe(true);
  expect(survives(10_000, 1, () => 0.5, false)).toBe(false);
});

test("a second outage has the full time limit again", () => {
  let nowMs = 0;
  const deps = { outageMsMax: 1000, retryWaitMsMax: 30_000, heard: { isReached: true } };
  const outage = createOutage(deps, false, { nowMs: () => nowMs, random: () => 0.5 });
  expect(outage.nextPauseMs(away, nowMs)).toBe(125);
  nowMs = 5000;
  expect(outage.nextPauseMs(away, nowMs)).toBeNull();
  outage.end();
  expect(outage.nextPauseMs(away, nowMs)).toBe(250);
  outage.reset();
  expect(outage.nextPauseMs(away, nowMs)).toBe(125);
});
