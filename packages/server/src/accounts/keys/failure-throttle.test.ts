import { expect, test } from "vitest";
import { createFailureThrottle } from "./keyring.ts";

let nowMs = 0;
const options = { failuresMax: 3, windowMs: 60_000, addressesMax: 2, now: () => nowMs };

test("blocks an address after its failures, and lets one more through as each leaks out", () => {
  const throttle = createFailureThrottle(options);
  for (const _ of [1, 2]) throttle.fail("a");
  expect(throttle.isBlocked("a")).toBe(false);
  throttle.fail("a");
  expect(throttle.isBlocked("a")).toBe(true);
  expect(throttle.isBlocked("b")).toBe(false);
  nowMs += 20_001;
  expect(throttle.isBlocked("a")).toBe(false);
  throttle.fail("a");
  expect(throttle.isBlocked("a")).toBe(true);
  nowMs += 60_000;
  expect(throttle.isBlocked("a")).toBe(false);
});

test("holds no more addresses than its bound, the latest ones", () => {
  const throttle = createFailureThrottle(options);
  for (const address of ["a", "a", "a", "b", "a", "c"]) throttle.fail(address);
  expect(throttle.size).toBe(2);
  expect(throttle.isBlocked("a")).toBe(true);
  for (let n = 0; n < 1000; n += 1) throttle.fail(`address ${n}`);
  expect(throttle.size).toBe(2);
});
