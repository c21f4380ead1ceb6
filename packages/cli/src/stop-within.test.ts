import { expect, it, vi } from "vitest";
import { stopWithin } from "./stop-within.ts";

it("gives up on a stop that hangs", async () => {
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>();
  const { promise: hanging, resolve: end } = Promise.withResolvers<void>();
  const stopping = stopWithin(5, () => hanging, giveUp);
  await givenUp;
  end();
  await stopping;
});

it("says nothing of one that ends in time, whichever way", async () => {
  vi.useFakeTimers();
  const giveUp = vi.fn();
  await stopWithin(5, async () => {}, giveUp);
  await expect(stopWithin(5, () => Promise.reject(new Error("no")), giveUp)).rejects.toThrow("no");
  vi.advanceTimersByTime(100);
  expect(giveUp).not.toHaveBeenCalled();
  vi.useRealTimers();
});
