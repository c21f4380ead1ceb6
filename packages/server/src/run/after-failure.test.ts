import { describe, expect, test } from "vitest";
import { AppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/run/leased-job.ts";
import { LeaseLost } from "../jobs/run/leases.ts";
import { Released } from "./run.ts";
import { afterFailure } from "./run-job.ts";

const patience = { crashesMax: 3, retriesMax: 2, retryMs: 1_000 };
const job = (counts: Partial<LeasedJob> = {}) => ({ retries: 0, crashesBlamed: 0, ...counts }) as LeasedJob;
const away = (retryAfterMs?: number) =>
  new AppError("forge_unavailable", {
    publicMessage: "The forge is away.",
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

describe("a fault leaves the job", () => {
  test("to its new owner, where the lease is lost", () => {
    expect(afterFailure(new LeaseLost("job"), job(), patience, false)).toEqual({ kind: "leave" });
  });

  test("due at once, where the process stops", () => {
    expect(afterFailure(new Released(), job(), patience, false)).toEqual({
      kind: "release",
      release: { reason: "released", delayMs: 0 },
    });
  });

  test("due when the forge said, and not before", () => {
    const next = afterFailure(away(90_000), job(), patience, false);
    expect(next).toMatchObject({
      release: { reason: "retry", delayMs: 90_000, data: { code: "forge_unavailable" } },
    });
  });

  test("due later each time, until it fails with the code of what was away", () => {
    const delays = [0, 1].map((retries) => {
      const next = afterFailure(away(), job({ retries }), patience, false);
      return next.kind === "release" ? next.release.delayMs : 0;
    });
    expect(delays[0]).toBeGreaterThanOrEqual(800);
    expect(delays[1]).toBeGreaterThanOrEqual(1_600);
    expect(afterFailure(away(), job({ retries: 2 }), patience, false)).toEqual({
      kind: "end",
      ending: { kind: "failed", code: "forge_unavailable", message: "The forge is away." },
    });
  });

  test("waiting for its forge with ever longer pauses, where there is work, and failed once that is too long", () => {
    const hour = 3_600_000;
    const wait = (waitedMs: number | null, retryAfterMs?: number) =>
      afterFailure(away(retryAfterMs), job({ retries: 9, publishWaitMs: 24 * hour, waitedMs }), patience, true);
    const delayOf = (waitedMs: number) => {
      const next = wait(waitedMs);
      return next.kind === "release" ? next.release.delayMs : 0;
    };
    expect(wait(null)).toMatchObject({ release: { reason: "waiting", data: { message: "The forge is away." } } });
    expect(delayOf(0)).toBeLessThanOrEqual(1_200);
    expect(delayOf(600_000)).toBeGreaterThanOrEqual(120_000);
    expect(delayOf(12 * hour)).toBeLessThanOrEqual(720_000);
    expect(delayOf(24 * hour - 5_000)).toBe(5_000);
    expect(wait(0, 90_000)).toMatchObject({ release: { delayMs: 90_000 } });
    expect(wait(24 * hour)).toMatchObject({
      ending: { code: "forge_unavailable", message: expect.stringContaining("waited 24 h") },
    });
  });

  test("never as failed, while a request may still open the pull request", () => {
    const pending = new AppError("forge_unavailable", {
      publicMessage: "The forge did not answer. Emend stopped waiting after 300 s.",
      retryable: true,
      retryAfterMs: 15_000,
      isPending: true,
    });
    const patientless = job({ retries: 9, publishWaitMs: 0, waitedMs: 48 * 3_600_000 });
    expect(afterFailure(pending, patientless, patience, true)).toMatchObject({
      release: { reason: "waiting", delayMs: 15_000, data: { message: expect.stringContaining("after 300 s") } },
    });
  });

  test("without patience, where the project has none", () => {
    const next = afterFailure(away(), job({ retries: 2, publishWaitMs: 0, waitedMs: null }), patience, true);
    expect(next).toMatchObject({ ending: { kind: "failed", code: "forge_unavailable" } });
  });

  test("without a crash, where the database was away", () => {
    const lost = new Error("Connection terminated unexpectedly");
    expect(afterFailure(lost, job({ crashesBlamed: 2 }), patience, false)).toMatchObject({
      release: { reason: "retry" },
    });
  });

  test("without a crash, where the server could not start git for want of file descriptors", () => {
    const full = new AppError("unavailable", { publicMessage: "Out of file descriptors.", retryable: true });
    expect(afterFailure(full, job(), patience, false)).toMatchObject({ release: { reason: "retry" } });
  });

  test("with a crash for an unexpected error, and as failed at the third", () => {
    const bug = new TypeError("x is not a function");
    expect(afterFailure(bug, job(), patience, false)).toMatchObject({ release: { reason: "crash" } });
    expect(afterFailure(bug, job({ crashesBlamed: 2 }), patience, false)).toMatchObject({
      ending: { kind: "failed", code: "internal" },
    });
  });

  test("as an unexpected error, if the code is for requests only", () => {
    const refused = new AppError("invalid_request", { publicMessage: "No such path." });
    expect(afterFailure(refused, job(), patience, false)).toMatchObject({ release: { reason: "crash" } });
  });
});
