import { expect, it, vi } from "vitest";
import { logLine, stopWithin } from "./serve.ts";

it("gives up on a stop that hangs", async () => {
  const { promise: givenUp, resolve: giveUp } = Promise.withResolvers<void>();
  const { promise: hanging, resolve: end } = Promise.withResolvers<void>();
  const stopping = stopWithin(5, () => hanging, giveUp);
  await givenUp;
  end();
  await stopping;
});

it("prints nothing if it ends in time", async () => {
  vi.useFakeTimers();
  const giveUp = vi.fn();
  await stopWithin(5, async () => {}, giveUp);
  await expect(stopWithin(5, () => Promise.reject(new Error("no")), giveUp)).rejects.toThrow("no");
  vi.advanceTimersByTime(100);
  expect(giveUp).not.toHaveBeenCalled();
  vi.useRealTimers();
});

it("tells what happened in one line, without stacks and control characters", () => {
  const cause = { type: "Error", message: "ENOTFOUND\u001b[2J", stack: "Error\n at x.ts:1" };
  const err = {
    type: "Fault",
    code: "forge_unavailable",
    message: "The forge is away.",
    stack: "AppError\n at y.ts:2",
    cause,
  };
  const entry = { level: 40, time: "2026-01-02T03:04:05.678Z", jobId: "job_1", err, runs: 2, msg: "a run failed" };
  expect(logLine(`${JSON.stringify(entry)}\n`)).toMatch(
    /^ {2}\d\d:\d\d:05 {2}warn {3}a run failed: The forge is away\.: ENOTFOUND\ufffd\[2J {2}jobId=job_1 {2}runs=2\n$/,
  );
});
